// Runs stages one after the other with a progress line each, and adds up what they counted.
import { spawn } from 'node:child_process'

/**
 * A stage is `{ name, command: [program, …arguments], minutes, needs?: [stage names], cwd?, env?, tests?: true }`. Its output
 * is passed on. With `tests` its closing line `N passed, N failed[, N skipped]` is counted; without, the stage counts as one.
 * `run` in the place of `command` is a function that throws when the stage failed.
 */
export async function runStages(stages) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  const broken = new Set()
  for (const stage of stages) {
    const missing = (stage.needs ?? []).filter((name) => broken.has(name))
    const counts = missing.length > 0 ? notRun(stage, missing) : await timed(stage)
    if (counts.failed > 0) broken.add(stage.name)
    for (const member of Object.keys(total)) total[member] += counts[member]
  }
  return total
}

/** The last line of a run; sets the exit code. */
export function close({ passed, failed, skipped }) {
  process.exitCode = failed > 0 ? 1 : 0
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
}

/** How long output may still come once a stage has ended. */
const DRAIN_MS = 5000
const CLOSING_LINE = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/
const ONE = { passed: 1, failed: 0, skipped: 0 }
const NONE = { passed: 0, failed: 1, skipped: 0 }

function notRun(stage, missing) {
  console.log(`✗ ${stage.name}: not run, since ${missing.join(' and ')} failed`)
  return NONE
}

async function timed(stage) {
  console.log(`▶ ${stage.name}`)
  const started = Date.now()
  const counts = await outcome(stage)
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  const tests = stage.tests ? `: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped` : ''
  console.log(`${counts.failed > 0 ? '✗' : '✓'} ${stage.name} (${seconds} s)${tests}`)
  return counts
}

async function outcome(stage) {
  if (stage.run === undefined) return await execute(stage)
  try {
    await stage.run()
    return ONE
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return NONE
  }
}

function execute({ name, command: [program, ...args], minutes, cwd, env, tests }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: process.platform !== 'win32',
    })
    const release = killedWithUs(child)
    let counted
    let late = false
    const timer = setTimeout(() => {
      late = true
      kill(child)
    }, minutes * 60_000)
    onLines(child.stdout, (line) => {
      const match = tests ? CLOSING_LINE.exec(line) : null
      if (match) counted = { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3] ?? 0) }
      else process.stdout.write(`${line}\n`)
    })
    const finish = (code, reason) => {
      clearTimeout(timer)
      release()
      if (late) console.error(`${name}: stopped after ${minutes} minutes`)
      else if (code !== 0) console.error(`${name}: ${reason}`)
      const fine = code === 0 && !late
      if (!tests) return resolve(fine ? ONE : NONE)
      if (counted === undefined) return resolve(NONE)
      resolve(fine || counted.failed > 0 ? counted : { ...counted, failed: 1 })
    }
    child.once('error', (error) => finish(-1, error.message))
    // Whoever inherited the pipe and lives on must not keep us waiting.
    child.once('exit', () => setTimeout(() => child.stdout.destroy(), DRAIN_MS).unref())
    child.once('close', (code, signal) => finish(code, `ended with ${signal ?? code}`))
  })
}

function onLines(stream, take) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  })
  stream.on('end', () => rest !== '' && take(rest))
}

/** A stage never outlives us: it has a process group of its own, which an interrupted terminal does not reach. */
function killedWithUs(child) {
  const stop = (signal) => {
    kill(child)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  return () => {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

function kill(child) {
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // gone already
  }
}
