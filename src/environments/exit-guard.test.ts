import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'

const source = readFileSync(fileURLToPath(new URL('exit-guard.ts', import.meta.url)), 'utf8')
const { code } = transformSync(source, { loader: 'ts', format: 'esm' })

/** Runs a program that installs the guard on `owner`, sends it the signals as it says it is ready for them. */
async function run(owner: string, options: string, ...signals: NodeJS.Signals[]) {
  const program = `${code}
    const say = (word) => process.stdout.write(word + '\\n')
    setInterval(() => {}, 60000)
    installExitGuard(${owner}, ${options})
    say('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let words = ''
  const left = [...signals]
  child.stdout.on('data', (chunk) => {
    words += chunk
    const next = left.shift()
    if (next !== undefined) child.kill(next)
  })
  const [exitCode, signal] = await once(child, 'close')
  return { words: words.trim().split('\n'), exitCode, signal }
}

describe.skipIf(process.platform === 'win32')('installExitGuard', () => {
  it('closes the owner, then ends by the signal that came', async () => {
    const owner = `{ async close() { say('closed') }, killNow() { say('killed') } }`
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      expect(await run(owner, '{}', signal)).toEqual({ words: ['ready', 'closed', 'killed'], exitCode: null, signal })
    }
  })

  it('kills at once when a second signal comes', async () => {
    const owner = `{ close() { say('closing'); return new Promise(() => {}) }, killNow() { say('killed') } }`
    const result = await run(owner, '{ closeWithinMs: 3600000 }', 'SIGINT', 'SIGTERM')
    expect(result).toEqual({ words: ['ready', 'closing', 'killed'], exitCode: null, signal: 'SIGTERM' })
  })

  it('does not wait for ever for an owner that does not close', async () => {
    const owner = `{ close() { say('closing'); return new Promise(() => {}) }, killNow() { say('killed') } }`
    const result = await run(owner, '{ closeWithinMs: 1 }', 'SIGTERM')
    expect(result).toEqual({ words: ['ready', 'closing', 'killed'], exitCode: null, signal: 'SIGTERM' })
  })

  it('kills also when closing fails', async () => {
    const owner = `{ async close() { throw new Error('no') }, killNow() { say('killed') } }`
    expect(await run(owner, '{}', 'SIGTERM')).toEqual({ words: ['ready', 'killed'], exitCode: null, signal: 'SIGTERM' })
  })

  it('takes only the signals that it was asked to take', async () => {
    const owner = `{ async close() { say('closed') }, killNow() { say('killed') } }`
    const result = await run(owner, `{ signals: ['SIGTERM'] }`, 'SIGINT')
    expect(result).toEqual({ words: ['ready'], exitCode: null, signal: 'SIGINT' })
  })
})
