#!/usr/bin/env node
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'

// Built as CommonJS with the listing inside, because Node starts that faster; the rest of the command line is ES modules.
void start(process.argv.slice(2))

async function start(args: readonly string[]): Promise<void> {
  const own = ownWords(args)
  if (own.includes('tools') && (await answeredFromCache(args))) return
  if ((own.includes('call') || own.includes('--stdio')) && (await doneInBroker(args))) return
  await keepCompiledCode()
  const { runProcess } = await import('./run-process.js')
  await runProcess(process)
}

/** What follows `--` may be a command of another program. */
function ownWords(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end === -1 ? args : args.slice(0, end)
}

/** Listing tools is what scripts and completions do all the time, so it loads next to nothing. */
async function answeredFromCache(args: readonly string[]): Promise<boolean> {
  const { coldList, plainStream } = await import('./cold-list.js')
  const code = await coldList(args, {
    stdout: plainStream(1, () => process.stdout, brokenPipe),
    stderr: plainStream(2, () => process.stderr, brokenPipe),
    get stdin() {
      return process.stdin
    },
    env: process.env,
    cwd: process.cwd(),
    signal: new AbortController().signal,
  })
  if (code !== undefined) process.exitCode = code
  return code !== undefined
}

/** Scripts call tools, and every client of the machine is served over stdio: the work is done in the broker. */
async function doneInBroker(args: readonly string[]): Promise<boolean> {
  const { doInBroker, endProcess, watchInterruption } = await import('./cold-broker.js')
  const interruption = watchInterruption(process)
  const outcome = await doInBroker(args, {
    stdout: process.stdout,
    stderr: process.stderr,
    get stdin() {
      return process.stdin
    },
    env: process.env,
    cwd: process.cwd(),
    ...(process.argv[1] !== undefined && { entry: process.argv[1] }),
    signal: interruption.signal,
  })
  if (typeof outcome === 'number') return endProcess(process, interruption.exitCode() ?? outcome)
  // Once is enough.
  if (outcome === 'no_broker') process.env.REEVE_NO_BROKER = '1'
  return false
}

/** Whoever read the list has enough of it: 128 + SIGPIPE. */
function brokenPipe(): never {
  process.exit(141)
}

/** From Node 22.1, in our own home: the default is a folder that everybody on the machine may write to. */
async function keepCompiledCode(): Promise<void> {
  const enableCompileCache: unknown = Reflect.get(nodeModule, 'enableCompileCache')
  if (typeof enableCompileCache !== 'function') return
  const { reeveHome } = await import('./cold-list.js')
  const home = reeveHome(process.env)
  if (existsSync(home)) enableCompileCache(join(home, 'cache', 'compiled'))
}
