import { type ExecReadResult, encodeBytes } from '../../protocol/index.js'
import type { Caller } from '../connection.js'
import type { Answer, Method } from '../methods.js'
import { internal, invalidParams, invalidRequest } from '../wire/fault.js'
import { Params } from '../wire/params.js'
import { childEnvironment, type Variables } from './env-policy.js'
import type { ReadAnswer } from './managed-process.js'
import { startChild } from './start-child.js'

/** `process/*` (reference: executor-protocol, 5). */
export function processMethods(variables: Variables): readonly (readonly [string, Method])[] {
  return [
    ['process/start', { order: 'holds', run: (params, caller) => start(new Params(params), caller, variables) }],
    ['process/write', { order: 'waits', run: (params, caller) => write(new Params(params), caller) }],
    ['process/read', { order: 'waits', run: (params, caller) => read(new Params(params), caller) }],
    ['process/signal', { order: 'holds', run: (params, caller) => signal(new Params(params), caller) }],
    ['process/terminate', { order: 'holds', run: (params, caller) => terminate(new Params(params), caller) }],
  ]
}

async function start(params: Params, { session }: Caller, variables: Variables): Promise<Answer> {
  const processId = params.text('processId')
  const [program, ...args] = params.texts('argv')
  if (program === undefined) throw invalidParams('argv must not be empty')
  refuseWhatWeCannot(params)
  const plan = {
    program,
    args,
    arg0: params.optionalText('arg0'),
    cwd: params.path('cwd'),
    env: childEnvironment(params, variables),
    pipeStdin: params.optionalFlag('pipeStdin') ?? false,
  }
  if ([program, plan.arg0 ?? '', ...args].some((text) => text.includes('\0')))
    throw invalidParams('argv must not hold a NUL')
  session.reserve(processId)
  try {
    const { child, pid } = await startChild(plan)
    session.adopt(processId, child, pid)
  } catch (error) {
    session.release(processId)
    throw error
  }
  return { result: { processId, sandboxType: 'none' } }
}

/** To start without the protection that was asked for would be worse than not to start (reference: 14, point 8). */
function refuseWhatWeCannot(params: Params): void {
  for (const name of ['sandbox', 'managedNetwork', 'networkProxy', 'shellSnapshot'])
    if (params.has(name)) throw invalidParams(`this executor has no ${name}: leave it out or null`)
  if (params.optionalFlag('enforceManagedNetwork'))
    throw invalidParams('this executor cannot enforce a managed network')
  if (params.flag('tty')) throw invalidParams('this executor has no terminals: tty must be false')
}

async function write(params: Params, { session }: Caller): Promise<Answer> {
  const chunk = params.bytes('chunk')
  const writeId = params.text('writeId')
  if (writeId === '') throw invalidParams('writeId must not be empty')
  const entry = session.find(params.text('processId'))
  if (entry === undefined) return status('unknownProcess')
  if (entry.is === 'starting') return status('starting')
  if (entry.process.stdin === undefined) return status('stdinClosed')
  await entry.process.stdin.write(writeId, chunk)
  return status('accepted')
}

const status = (text: string): Answer => ({ result: { status: text } })

async function read(params: Params, { session, signal: gone }: Caller): Promise<Answer> {
  const entry = session.find(params.text('processId'))
  const afterSeq = params.optionalCount('afterSeq') ?? 0
  const maxBytes = params.optionalCount('maxBytes')
  const waitMs = params.optionalCount('waitMs') ?? 0
  if (entry === undefined) throw invalidRequest('unknown process id')
  if (entry.is === 'starting') return { result: readResult(NOTHING_YET) }
  await entry.process.news(afterSeq, waitMs, gone)
  return { result: readResult(entry.process.read(afterSeq, maxBytes)) }
}

const NOTHING_YET: ReadAnswer = { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false }

function readResult({ chunks, ...rest }: ReadAnswer): ExecReadResult {
  return {
    chunks: chunks.map(({ seq, stream, bytes }) => ({ seq, stream, chunk: encodeBytes(bytes) })),
    ...rest,
    failure: null,
    sandboxDenied: false,
  }
}

function signal(params: Params, { session }: Caller): Answer {
  params.oneOf('signal', ['interrupt'])
  if (process.platform === 'win32') throw internal('this system has no interrupt for another process')
  const entry = session.find(params.text('processId'))
  if (entry?.is === 'started') entry.process.group.signal('SIGINT')
  return { result: {} }
}

function terminate(params: Params, { session }: Caller): Answer {
  const entry = session.find(params.text('processId'))
  return { result: { running: entry?.is === 'started' && entry.process.terminate() } }
}
