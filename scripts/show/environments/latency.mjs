// What an executor adds to one MCP call: over its pipes and over its WebSocket, with and without the pong after each message.
import { join } from 'node:path'
import { root, run } from '../gateway/commands.mjs'

const COMMAND = [process.execPath, join(root, 'bench', 'run.mjs'), 'executor']

export async function latency() {
  const { code, stdout, stderr } = await run(COMMAND, { minutes: 12 })
  console.log(stdout.trimEnd())
  if (code !== 0) throw new Error(`the benchmark ended with ${code}${stdout.trim() === '' ? `\n${stderr}` : ''}`)
}
