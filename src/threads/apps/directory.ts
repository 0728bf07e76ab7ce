import { ProtocolViolationError, ReeveError } from '../../errors.js'
import { type JsonObject, type JsonValue, LIMITS } from '../../protocol/index.js'
import { installUrl } from './auth-failure.js'
import { member } from './connector.js'
import { backendBase } from './hosted-url.js'
import type { OwningThread } from './owning-thread.js'

/** An app that the account could use, as the directory tells of it. */
export interface DirectoryApp {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly installUrl: string
  /** Everything that the directory said of it. */
  readonly entry: JsonObject
}

const PLACE = 'connectors/directory/list'
const TIMEOUT_MS = 30_000

/**
 * The directory of apps, all pages, as the account of the owning thread sees it. Hidden entries and those that name no id are
 * left out; of two with one id the first counts.
 *
 * @throws FirstPartyAuthError nothing was sent; RedirectRefusedError; ReeveError `app_directory` the answer is no list;
 *   ProtocolViolationError it gave a page twice, or too many
 */
export async function appDirectory(owner: OwningThread, signal?: AbortSignal): Promise<readonly DirectoryApp[]> {
  const apps = new Map<string, DirectoryApp>()
  const tokens = new Set<string>()
  const bound = AbortSignal.timeout(TIMEOUT_MS)
  const stop = signal === undefined ? bound : AbortSignal.any([signal, bound])
  let token: string | undefined
  for (let page = 1; ; page += 1) {
    const reply = await fetchPage(owner, token, stop)
    for (const app of appsOf(reply)) if (!apps.has(app.id)) apps.set(app.id, app)
    if (apps.size > LIMITS.appsListItems) throw tooMuch(`more than ${LIMITS.appsListItems} apps`)
    token = nextOf(reply)
    if (token === undefined) return Object.freeze([...apps.values()])
    if (tokens.has(token)) throw tooMuch('the same page twice')
    if (page >= LIMITS.listPages) throw tooMuch(`more than ${LIMITS.listPages} pages`)
    tokens.add(token)
  }
}

async function fetchPage(
  { auth, runtimeContext }: OwningThread,
  token: string | undefined,
  signal: AbortSignal,
): Promise<JsonValue> {
  const { baseUrl, productSku, originator, userAgent } = runtimeContext
  const page = token === undefined ? '' : `token=${encodeURIComponent(token)}&`
  const { status, body } = await auth.clientFor().send({
    layout: 'app_directory',
    method: 'GET',
    url: `${backendBase(baseUrl)}/${PLACE}?${page}external_logos=true`,
    headers: {
      ...(originator !== undefined && { originator }),
      'user-agent': userAgent,
      'oai-product-sku': productSku,
      'content-type': 'application/json',
      accept: '*/*',
    },
    signal,
  })
  if (status !== 200) throw refused(`the app directory answered with HTTP ${status}`, { status })
  return parsed(body)
}

function appsOf(reply: JsonValue): readonly DirectoryApp[] {
  const apps = member(reply, 'apps')
  if (!Array.isArray(apps)) throw refused('the app directory answered without a list of apps')
  return apps.flatMap((entry): DirectoryApp[] => {
    const id = textIn(entry, 'id')
    if (id === undefined || typeof entry !== 'object' || entry === null || Array.isArray(entry)) return []
    if (textIn(entry, 'visibility') === 'HIDDEN') return []
    const name = textIn(entry, 'name') ?? id
    const description = textIn(entry, 'description')
    const about = description === undefined ? {} : { description }
    return [Object.freeze({ id, name, ...about, installUrl: installUrl(id, name), entry })]
  })
}

function nextOf(reply: JsonValue): string | undefined {
  const token = textIn(reply, 'next_token') ?? textIn(reply, 'nextToken')
  if (token !== undefined && token.length > LIMITS.cursor) throw tooMuch('a page token that is too long')
  return token
}

function textIn(of: JsonValue, name: string): string | undefined {
  const value = member(of, name)
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}

function parsed(body: string): JsonValue {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw refused('the app directory answered with something that is no JSON', {}, cause)
  }
}

function refused(message: string, data: Readonly<Record<string, number>> = {}, cause?: unknown): ReeveError {
  return new ReeveError('app_directory', message, { place: PLACE, data, ...(cause !== undefined && { cause }) })
}

function tooMuch(what: string): ProtocolViolationError {
  return new ProtocolViolationError(`the app directory gave ${what}`, { place: PLACE })
}
