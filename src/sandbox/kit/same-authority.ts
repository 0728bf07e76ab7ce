import { SandboxRefusedError } from '../../errors.js'
import type { CallerSandbox } from './caller-sandbox.js'
import { inexactness, sameJson } from './exact-json.js'

const MEMBERS = ['state', 'codexExecutable', 'reeveExecutable'] as const

/**
 * Refuses a call whose authority is not the one that a process was started under. A process that goes on between calls (a
 * shell, an interpreter) can't change its sandbox: under another policy it has to be started anew.
 *
 * States are the same when they are the same JSON, unknown members included; the order of members says nothing.
 *
 * @param held what the process was started with
 * @throws SandboxRefusedError `authority_changed`; `data.changed` names the members that differ
 */
export function requireSameAuthority(held: CallerSandbox, now: CallerSandbox): void {
  const changed = MEMBERS.filter((member) =>
    member === 'state' ? !sameState(held.state, now.state) : held[member] !== now[member],
  )
  if (changed.length === 0) return
  throw new SandboxRefusedError(
    'authority_changed',
    `the sandbox of this call is not the one that the process was started in (${changed.join(', ')}): start it anew`,
    { data: { changed } },
  )
}

/** Whether {@link requireSameAuthority} accepts. */
export function isSameAuthority(held: CallerSandbox, now: CallerSandbox): boolean {
  return MEMBERS.every((member) =>
    member === 'state' ? sameState(held.state, now.state) : held[member] === now[member],
  )
}

/** Numbers that parsing would round are equal only when they are written alike. */
function sameState(held: string | null, now: string | null): boolean {
  if (held === now) return true
  if (held === null || now === null) return false
  const [before, after]: unknown[] = [JSON.parse(held), JSON.parse(now)]
  return inexactness(before) === undefined && sameJson(before, after)
}
