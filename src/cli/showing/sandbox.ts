import type { StdioServer } from '../../config/index.js'

/** What a server's own process may do; undefined for one that asks for no sandbox. */
export function sandboxText({ sandbox }: Pick<StdioServer, 'sandbox'>): string | undefined {
  if (sandbox === undefined || sandbox.mode === 'danger-full-access') return sandbox?.mode
  return `${sandbox.mode}, ${sandbox.network ? 'with' : 'without'} network`
}
