import { spawn } from 'node:child_process'
import { spawnFault } from '../wire/fault.js'
import type { StartedChild } from './managed-process.js'

export interface ChildPlan {
  readonly program: string
  readonly args: readonly string[]
  /** What the process sees as its own name. */
  readonly arg0: string | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Otherwise stdin is at its end from the start. */
  readonly pipeStdin: boolean
}

/**
 * Starts a process as leader of a session and group of its own. The program is looked up in the child's own `PATH`.
 *
 * @throws RpcError -32603 with `data.kind`
 */
export async function startChild(plan: ChildPlan): Promise<{ readonly child: StartedChild; readonly pid: number }> {
  try {
    const options = {
      cwd: plan.cwd,
      env: plan.env,
      detached: true,
      windowsHide: true,
      ...(plan.arg0 !== undefined && { argv0: plan.arg0 }),
    }
    const child: StartedChild = plan.pipeStdin
      ? spawn(plan.program, plan.args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
      : spawn(plan.program, plan.args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const pid = child.pid
    if (pid !== undefined) return { child, pid }
    return await new Promise((_, reject) => child.once('error', reject))
  } catch (error) {
    throw faultOf(error)
  }
}

function faultOf(error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const message = error instanceof Error ? error.message : String(error)
  if (code === 'ENOENT') return spawnFault('spawnNotFound', message)
  if (code === 'EACCES' || code === 'EPERM') return spawnFault('spawnPermissionDenied', message)
  return spawnFault('spawnFailed', message)
}
