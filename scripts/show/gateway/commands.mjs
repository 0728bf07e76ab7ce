// Runs commands of the show: with a home of their own, bounded in time, their output kept.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
export const REEVE = [process.execPath, join(root, 'dist', 'cli', 'reeve.js')]

/** What commands leave in the broker of the home ends soon after the last of them. */
export function cleanEnvironment(home) {
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
  return { PATH: path, HOME: home, LANG: 'C.UTF-8', REEVE_BROKER_IDLE_MS: '2000' }
}

/** @returns {Promise<{ code: number | null, stdout: string, stderr: string, ms: number }>} */
export function run([program, ...args], { env = process.env, cwd = root, minutes = 2 } = {}) {
  const started = performance.now()
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: minutes * 60_000 })
  const text = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) {
    child[stream].on('data', (chunk) => {
      text[stream] += chunk
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...text, ms: performance.now() - started }))
  })
}

/** The same for a command that must succeed; gives its stdout. */
export async function succeed(command, options) {
  const { code, stdout, stderr } = await run(command, options)
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}\n${stderr || stdout}`)
  return stdout
}

/** `$ command`, with the project's own paths made short. */
export function prompt(command) {
  const shown = command.map((part) => (/[^\w./:=@-]/.test(part) ? `'${part}'` : part)).join(' ')
  console.log(`$ ${shown.replaceAll(process.execPath, 'node').replaceAll(`${root}/`, '')}`)
}

/** At most `count` lines of a text, each cut to the width of a terminal. */
export function head(text, count, width = 140) {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, count).map((line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line))
  const rest = lines.length - shown.length
  return [...shown, ...(rest > 0 ? [`… ${rest} more lines`] : [])].map((line) => `  ${line}`).join('\n')
}

/** A Markdown table. */
export function table([titles, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n')
}
