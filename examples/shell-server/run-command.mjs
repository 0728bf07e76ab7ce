import { launch } from 'reeve/sandbox'
import { end, start } from './running.mjs'

/** Bytes that are kept of each stream. */
const MOST_BYTES = 262_144

/** Runs one command to its end under the policy of the call. */
export async function runCommand(sandbox, command, { optOut, signal }) {
  const what = launch(sandbox, command, { optOut })
  const child = start(what)
  child.stdin.end()
  const stop = () => end(child)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    const [stdout, stderr, exitCode] = await Promise.all([textOf(child.stdout), textOf(child.stderr), exitOf(child)])
    return { exitCode, stdout, stderr, sandbox: what.sandbox }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** The rest of what is too long is read and left out. */
async function textOf(stream) {
  const chunks = []
  let bytes = 0
  for await (const chunk of stream) {
    if (bytes < MOST_BYTES) chunks.push(chunk.subarray(0, MOST_BYTES - bytes))
    bytes += chunk.length
  }
  return Buffer.concat(chunks).toString('utf8')
}

function exitOf(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? `ended by ${signal}`))
  })
}
