import { ProtocolViolationError } from '../../errors.js'
import type { ExecCapability, ExecEnvironmentInfo } from '../../protocol/index.js'

/** Readers of what an executor answers: it may say anything. Each raises `ProtocolViolationError` and names the member. */

export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

export function textOf(value: unknown, name: string, place: string): string {
  const member = memberOf(value, name)
  if (typeof member !== 'string') throw wrong(name, 'a text', place)
  return member
}

/** A whole number, 0 or more. */
export function countOf(value: unknown, name: string, place: string): number {
  const member = memberOf(value, name)
  if (typeof member !== 'number' || !Number.isSafeInteger(member) || member < 0)
    throw wrong(name, 'a whole number', place)
  return member
}

export function flagOf(value: unknown, name: string, place: string): boolean {
  const member = memberOf(value, name)
  if (typeof member !== 'boolean') throw wrong(name, 'true or false', place)
  return member
}

export function listOf(value: unknown, name: string, place: string): readonly unknown[] {
  const member = memberOf(value, name)
  if (!Array.isArray(member)) throw wrong(name, 'a list', place)
  return member
}

/** Only what we know, and that frozen: capabilities are flags that are exactly true. */
export function environmentInfoOf(value: unknown, place: string): ExecEnvironmentInfo {
  const shell = memberOf(value, 'shell')
  const capabilities = memberOf(value, 'capabilities')
  const set: [string, boolean][] =
    typeof capabilities === 'object' && capabilities !== null
      ? Object.entries(capabilities).filter(([name, flag]) => flag === true && name !== '__proto__')
      : []
  const texts = Object.fromEntries(
    INFO_TEXTS.flatMap((name) => {
      const member = memberOf(value, name)
      return typeof member === 'string' ? [[name, member]] : []
    }),
  )
  return Object.freeze({
    ...texts,
    shell: Object.freeze({ name: textOf(shell, 'name', place), path: textOf(shell, 'path', place) }),
    capabilities: Object.freeze(Object.fromEntries(set) as Partial<Record<ExecCapability, boolean>>),
  })
}

const INFO_TEXTS = ['cwd', 'executorVersion', 'providerId', 'userHomeDir', 'platformOs', 'tempDir'] as const

function wrong(name: string, expected: string, place: string): ProtocolViolationError {
  return new ProtocolViolationError(`${place} answered without ${expected} as '${name}'`, { place })
}
