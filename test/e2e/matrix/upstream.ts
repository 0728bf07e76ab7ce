import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { within } from './bounded.js'
import type { Era } from './clients/client.js'

export type TransportKind = 'stdio' | 'http'

/** A full-feature server as an entry of the configuration, with what ends it. */
export interface Upstream extends AsyncDisposable {
  readonly toml: string
}

const SCRIPTS: Readonly<Record<Era, string>> = { old: 'server-2025.mjs', new: 'server-2026.mjs' }

/** Over stdio the gateway starts the server itself; over HTTP it runs already. */
export async function startUpstream(era: Era, transport: TransportKind): Promise<Upstream> {
  const script = fileURLToPath(new URL(`../../fixtures/full/${SCRIPTS[era]}`, import.meta.url))
  if (transport === 'stdio') {
    const args = JSON.stringify([script, '--stdio'])
    return { toml: `command = ${JSON.stringify(process.execPath)}\nargs = ${args}`, [Symbol.asyncDispose]: nothing }
  }
  const child = spawn(process.execPath, [script, '--http', '127.0.0.1:0'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const url = await within('the URL of the server', firstLine(child))
  return { toml: `url = ${JSON.stringify(url)}`, [Symbol.asyncDispose]: () => end(child) }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the server has no stdout')
  const [line] = (await once(createInterface({ input: stdout }), 'line')) as [string]
  return line
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.stdin?.end()
  await ended
}

async function nothing(): Promise<void> {}
