import { startBackend } from '../../standins/backend.js'
import { takeUpload } from '../../standins/backend-files.js'
import type { SeenRequest } from '../../standins/backend-model.js'
import { codexSide } from './codex-side.js'
import { type Answers, type Json, requestAnswers, sessionAnswers } from './shapes.js'
import { type Mode, SERVER_PATH, type Side, type World } from './side.js'
import { ComparedBackend, kindOf } from './traffic.js'

type Did = Readonly<Record<string, string>>

export interface Scenario {
  readonly name: string
  /** The kinds of requests that are compared field by field. */
  readonly kinds: RegExp
  /** Codex ends the session of who signed out only now and then, and with a token that is revoked: that counts as not at all. */
  readonly signsOut?: true
  /** Gives what its calls came to. */
  run(side: Side, model: ComparedBackend): Promise<Did>
}

/** Which call it was, and through which layers, in words of each side's own. */
const FRAME = /tool call failed for `[^`]*`: (?:Transport send error: Transport \[.*\] error: )?/

const REDIRECT = { status: 307, headers: { location: SERVER_PATH } }
const ELSEWHERE = { status: 308, headers: { location: 'https://elsewhere.example.test/mcp' } }
const UNAUTHORIZED = { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a thread from its start to its end',
    kinds: /./,
    run: async (side, model) => {
      const first = await side.call()
      await sessionsComplete(model)
      takeUpload(model)
      await side.turn()
      await sessionsComplete(model)
      await side.end()
      return { 'the call': first }
    },
  },
  {
    name: 'a refresh between two calls',
    kinds: /^refresh$/,
    run: async (side, model) => {
      const first = await side.call()
      await sessionsComplete(model)
      await side.refresh()
      const second = await side.call()
      const third = await side.call()
      await sessionsComplete(model)
      await side.end()
      return { 'the calls': [first, second, third].join(', ') }
    },
  },
  {
    name: 'redirects of a call',
    kinds: /^never$/,
    run: async (side, model) => {
      await side.call()
      await sessionsComplete(model)
      model.rpcReplies.set('tools/call', [REDIRECT])
      const within = await side.call()
      model.rpcReplies.set('tools/call', [ELSEWHERE])
      const beyond = await side.call()
      await sessionsComplete(model)
      await side.end()
      return { 'within the origin': within, 'to another origin': beyond }
    },
  },
  {
    name: 'a 401 of a call',
    kinds: /^refresh$/,
    run: async (side, model) => {
      await side.call()
      await sessionsComplete(model)
      model.rpcReplies.set('tools/call', [UNAUTHORIZED])
      const refused = await side.call()
      const next = await side.call()
      await sessionsComplete(model)
      await side.end()
      return { 'the call': refused, 'the next one': next }
    },
  },
  {
    name: 'a logout',
    signsOut: true,
    kinds: /^revocation$/,
    run: async (side, model) => {
      await side.call()
      await sessionsComplete(model)
      await side.logout()
      const after = await side.call()
      await sessionsComplete(model)
      await side.end()
      return { 'a call after it': after }
    },
  },
]

/** How often Codex is asked again where a busy machine let it end before it had ended its last session. */
const CODEX_ENDINGS = 5

export async function codexAnswers(scenario: Scenario, mode: Mode): Promise<Answers> {
  for (let ending = 1; ; ending += 1) {
    const { answers } = await answersOf(scenario, mode, codexSide)
    const { sessions } = answers
    const last = Array.isArray(sessions) ? sessions.at(-1) : undefined
    const isEnded = typeof last === 'string' && last.endsWith('DELETE')
    const areAppsEnded = !scenario.kinds.test('apps: DELETE') || answers['apps: DELETE'] !== undefined
    if (ending < CODEX_ENDINGS && !(isEnded && areAppsEnded)) continue
    return scenario.signsOut && Array.isArray(sessions) ? { ...answers, sessions: sessions.map(unended) } : answers
  }
}

function unended(session: Json): Json {
  const isOfAccount = typeof session === 'string' && !session.startsWith('none')
  return isOfAccount ? session.replace(/, DELETE$/, '') : session
}

/** What one client did in one mode, on a backend of its own. */
export async function answersOf(
  scenario: Scenario,
  mode: Mode,
  start: (world: World) => Promise<Side>,
): Promise<{ readonly answers: Answers; readonly violations: readonly string[] }> {
  const model = new ComparedBackend()
  await using backend = await startBackend(model)
  const side = await start({ mode, backend, model })
  try {
    const did = await scenario.run(side, model)
    const { requests, violations } = model
    const answers = {
      ...requestAnswers(requests, SERVER_PATH, scenario.kinds),
      ...sessionAnswers(requests, SERVER_PATH),
      ...Object.fromEntries(Object.entries(did).map(([question, outcome]) => [question, outcome.replace(FRAME, '')])),
    }
    return { answers, violations }
  } finally {
    await side[Symbol.asyncDispose]()
  }
}

/** Streams are opened, and tools listed, beside what else happens: sessions are compared with theirs. */
function sessionsComplete(model: ComparedBackend): Promise<void> {
  return model.came((requests) => {
    const opened = count(requests, 'initialize')
    const ofApps = count(requests, 'apps: initialize')
    return (
      count(requests, 'GET') >= opened &&
      count(requests, 'tools/list') >= opened &&
      count(requests, 'apps: GET') >= ofApps &&
      count(requests, 'apps: tools/list') >= ofApps
    )
  })
}

function count(requests: readonly SeenRequest[], kind: string): number {
  return requests.filter((request) => kindOf(request, SERVER_PATH) === kind).length
}
