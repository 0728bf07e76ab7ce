import { type JsonLines, speakJsonLines } from './json-lines.js'
import { PEER } from './peers.js'
import { startProgram } from './program.js'

/** `codex app-server` past its handshake; `env` names its home, whose files are written before. */
export async function startCodexAppServer(options: {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}): Promise<JsonLines & AsyncDisposable> {
  const { command, args } = PEER.codex()
  const program = startProgram({ command, args: [...args, 'app-server'] }, options)
  const lines = speakJsonLines(program)
  const clientInfo = { name: 'test', title: 'Test', version: '1.0.0' }
  await lines.request('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  lines.notify('initialized')
  return { ...lines, [Symbol.asyncDispose]: program[Symbol.asyncDispose] }
}
