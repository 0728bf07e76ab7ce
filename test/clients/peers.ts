import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from './program.js'

export const ROOT = join(fileURLToPath(import.meta.url), '..', '..', '..')
const PEERS = join(ROOT, '.cache', 'peers')

/** The installed command of a pinned client. Throws with the line that installs it. */
export const PEER = {
  inspector: () => script('inspector', '@modelcontextprotocol/inspector', 'clients/launcher/build/index.js'),
  mcporter: () => script('mcporter', 'mcporter', 'dist/cli.js'),
  mcpRemote: () => script('mcp-remote', 'mcp-remote', 'dist/proxy.js'),
  gemini: () => script('gemini-cli', '@google/gemini-cli', 'bundle/gemini.js'),
  codex: () => binary('codex', `@openai/codex-${platform()}`, 'vendor', 'bin/codex'),
  claude: () => binary('claude-code', `@anthropic-ai/claude-code-${platform()}`, '', 'claude'),
  opencode: () => binary('opencode', `opencode-${platform()}`, '', 'bin/opencode'),
} satisfies Record<string, () => Command>

function platform(): string {
  return `${process.platform}-${process.arch}`
}

function script(peer: string, ...path: string[]): Command {
  return { command: process.execPath, args: [installed(peer, join(PEERS, peer, 'node_modules', ...path))] }
}

/** The program inside a platform package; `triples` is a folder whose only entry is named after the target. */
function binary(peer: string, pkg: string, triples: string, path: string): Command {
  const folder = installed(peer, join(PEERS, peer, 'node_modules', pkg, triples))
  const [triple = ''] = triples === '' ? [] : readdirSync(folder)
  return { command: installed(peer, join(folder, triple, path)), args: [] }
}

function installed(peer: string, path: string): string {
  if (!existsSync(path)) throw new Error(`${path} is missing: node scripts/install-peers.mjs ${peer}`)
  return path
}
