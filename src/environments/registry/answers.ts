import type { ExecEnvironmentInfo } from '../../protocol/index.js'
import type { EnvironmentState } from '../environment.js'

/** `environment/status` (reference: surfaces). */
export interface EnvironmentStatusAnswer {
  readonly status: 'ready' | 'pending' | 'disconnected' | 'unknown'
  readonly error?: string
}

/** `environment/info` (reference: surfaces). `cwd` is a `file:` URI. */
export interface EnvironmentInfoAnswer {
  readonly shell: { readonly name: string; readonly path: string }
  readonly cwd: string | null
}

/** `state` is undefined for an id that nothing has. */
export function statusAnswer(id: string, state: EnvironmentState | undefined): EnvironmentStatusAnswer {
  switch (state?.is) {
    case undefined:
      return { status: 'unknown', error: `unknown environment id \`${id}\`` }
    case 'ready':
      return { status: 'ready' }
    case 'idle':
    case 'connecting':
      return { status: 'pending' }
    case 'recovering':
      return { status: 'disconnected', error: 'exec-server environment is recovering' }
    case 'failed':
      return { status: 'disconnected', error: state.error.message }
    case 'closed':
      return { status: 'disconnected', error: 'the environment is closed' }
  }
}

export function infoAnswer({ shell, cwd }: ExecEnvironmentInfo): EnvironmentInfoAnswer {
  return { shell: { name: shell.name, path: shell.path }, cwd: cwd ?? null }
}
