import type { Environment } from '../../environments/index.js'
import { LimitExceededError, OperationTimeoutError, ProcessFailedError, ProtocolViolationError } from '../../errors.js'
import type { HeaderField } from './header-fields.js'
import type { Timers } from './timers.js'

export interface HeadersHelper {
  /** Run by the platform's shell. */
  readonly command: string
  readonly spawn: Environment['spawn']
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  readonly label: string
  readonly timers: Timers
}

/** Source: reference README, constants. */
const TIME = 10_000
const OUTPUT = 64 * 1024

/**
 * Runs the command of `http_headers_helper` and reads the headers that it prints: one JSON object of strings. Its output
 * is never shown, since it holds credentials. Throws `ProcessFailedError`, `OperationTimeoutError`,
 * `LimitExceededError` or `ProtocolViolationError`, each naming the server.
 */
export async function runHeadersHelper(helper: HeadersHelper): Promise<readonly HeaderField[]> {
  const { spawn, cwd, label, timers } = helper
  const child = await spawn({
    ...shell(helper),
    env: definedOnly(helper.env),
    label: `${label} http_headers_helper`,
    ...(cwd !== undefined && { cwd }),
  })
  const chunks: Buffer[] = []
  let size = 0
  let failure: Error | undefined
  const stop = (error: Error) => {
    failure ??= error
    void child.terminate()
  }
  child.onstdout = (chunk) => {
    size += chunk.length
    if (size > OUTPUT) stop(new LimitExceededError(`the output of ${nameOf(label)} in bytes`, OUTPUT, at(label)))
    else chunks.push(chunk)
  }
  child.onstderr = () => {}
  const stopWaiting = timers.after(TIME, () => stop(new OperationTimeoutError(nameOf(label), TIME)))
  child.closeStdin()
  const exit = await child.exited
  stopWaiting()
  // Also ends what the command left behind.
  await child.terminate()
  if (failure !== undefined) throw failure
  if (exit.code !== 0) {
    const how = exit.code === null ? `signal ${exit.signal}` : `exit code ${exit.code}`
    throw new ProcessFailedError(`${nameOf(label)} failed with ${how}`, { ...at(label), data: { ...exit } })
  }
  return readHeaders(Buffer.concat(chunks, size).toString('utf8'), label)
}

function readHeaders(text: string, label: string): readonly HeaderField[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  const entries =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined
  const fields = entries?.flatMap(([name, field]): HeaderField[] => (typeof field === 'string' ? [[name, field]] : []))
  if (fields === undefined || fields.length !== entries?.length) {
    throw new ProtocolViolationError(`${nameOf(label)} printed no JSON object of strings`, at(label))
  }
  return fields
}

function shell({ command, env }: HeadersHelper): { readonly program: string; readonly args: readonly string[] } {
  if (process.platform !== 'win32') return { program: '/bin/sh', args: ['-c', command] }
  return { program: env.ComSpec ?? 'cmd.exe', args: ['/d', '/s', '/c', command] }
}

function definedOnly(env: HeadersHelper['env']): Record<string, string> {
  const entries = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return Object.fromEntries(entries)
}

function nameOf(label: string): string {
  return `http_headers_helper of MCP server '${label}'`
}

function at(label: string) {
  return { place: `${label} http_headers_helper` }
}
