import type { SeenRequest } from '../../standins/backend-model.js'
import { kindOf } from './traffic.js'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
/** By question. */
export type Answers = Readonly<Record<string, Json>>

/** What the HTTP library says of itself, and where. */
const TRANSPORT = new Set(['host', 'connection', 'content-length', 'accept-encoding'])
/** Each client names itself here. */
const NAMES = new Set(['user-agent', 'originator'])
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** Kinds whose body is told, too: those of MCP servers are about MCP. */
const TOLD_BODIES = /^(registration|refresh|revocation|upload|analytics)/

/**
 * What was sent, as answers: for each kind each distinct request, and its body where `TOLD_BODIES`, line by line, with
 * values that differ by nature replaced.
 */
export function requestAnswers(requests: readonly SeenRequest[], server: string, kinds: RegExp): Answers {
  const answers = new Map<string, readonly string[]>()
  for (const request of requests) {
    const kind = kindOf(request, server)
    if (kind === undefined || !kinds.test(kind)) continue
    add(answers, kind, requestLines(request))
    if (TOLD_BODIES.test(kind)) add(answers, `${kind}: body`, bodyLines(request.body))
  }
  return Object.fromEntries(answers)
}

function add(answers: Map<string, readonly string[]>, kind: string, lines: readonly string[]): void {
  for (let number = 1; ; number += 1) {
    const question = number === 1 ? kind : `${kind}, ${number}`
    const known = answers.get(question)
    if (known?.join('\n') === lines.join('\n')) return
    if (known === undefined) return void answers.set(question, lines)
  }
}

function requestLines({ method, host, path, headers }: SeenRequest): readonly string[] {
  const fields = headers.filter(([name]) => !TRANSPORT.has(name)).map(([name, value]) => fieldShape(name, value))
  return [`${method} https://${host}${path}`, ...inOneOrder(fields)]
}

/** Of hosted apps, these two stand together, now the one first and now the other. */
function inOneOrder(fields: readonly string[]): readonly string[] {
  const at = fields.findIndex((field) => field.startsWith('x-openai-product-sku'))
  const [sku, next] = [fields[at], fields[at + 1]]
  if (sku === undefined || next?.startsWith('originator') !== true) return fields
  return [...fields.slice(0, at), next, sku, ...fields.slice(at + 2)]
}

function fieldShape(name: string, value: string): string {
  if (NAMES.has(name)) return `${name}: <own>`
  if (name === 'mcp-session-id') return `${name}: <session>`
  const shown = value
    .replace(/^Bearer .+/, 'Bearer <token>')
    .replace(/1\.[\w-]+\.[\w-]+\.[\w-]+/, '<assertion>')
    .replace(UUID, '<uuid>')
  return `${name}: ${shown}`
}

function bodyLines(body: string): readonly string[] {
  if (!body.startsWith('{')) return [body]
  const content = JSON.parse(body)
  return memberLines('', Array.isArray(content.events) ? content.events.find(isCall)?.event_params : content)
}

function isCall({ event_type: type }: { readonly event_type?: unknown }): boolean {
  return type === 'codex_mcp_tool_call_event'
}

/** Members whose values are the process's or the moment's own, or tell what the client is. */
const OWN =
  /(_at_ms|_ms|^public_key|_version|^(thread|session|turn|root_turn|item|originating_response)_id)$|^(app_server_client|runtime)\./

function memberLines(name: string, value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null)
    return [`${name}: ${OWN.test(name) ? ownShape(value) : plain(value)}`]
  return Object.entries(value).flatMap(([key, one]) => memberLines(name === '' ? key : `${name}.${key}`, one))
}

function ownShape(value: unknown): string {
  return value === null || value === '' ? JSON.stringify(value) : '<own>'
}

function plain(value: unknown): string {
  return JSON.stringify(value)
    .replace(UUID, '<uuid>')
    .replace(/"eyJ[^"]*"/, '<token>')
    .replace(/"refresh-\d+"/, '<refresh token>')
}

/** Each session of the server: its requests in order of their kinds, and the tokens that they came with, by age. */
export function sessionAnswers(requests: readonly SeenRequest[], server: string): Answers {
  const own = requests.filter((request) => request.path === server && kindOf(request, server) !== undefined)
  const sessions: SeenRequest[][] = []
  const ids = new Map<string, SeenRequest[]>()
  let unnamed = 0
  for (const request of own) {
    if (kindOf(request, server) === PROBE) continue
    const id = firstOf(request, 'mcp-session-id')
    const known = id === undefined ? undefined : ids.get(id)
    if (known !== undefined) known.push(request)
    else if (id === undefined) sessions.push([request])
    else {
      const opened = sessions[unnamed++] ?? []
      ids.set(id, opened)
      opened.push(request)
    }
  }
  return {
    sessions: sessions.map((all) => `${[...new Set(all.map(credentialOf))].join(', ')}: ${kindsOf(all, server)}`),
    'every assertion is another': areDistinct(requests.flatMap(({ assertion }) => assertion ?? [])),
  }
}

function areDistinct(values: readonly string[]): boolean {
  return new Set(values).size === values.length
}

/** Asked before there is a session. */
const PROBE = 'server/discover'
const ORDER = ['initialize', 'notifications/initialized', 'GET', 'tools/list', 'tools/call', 'DELETE']

function kindsOf(session: readonly SeenRequest[], server: string): string {
  const kinds = session.map((request) => kindOf(request, server))
  return ORDER.flatMap((kind) => {
    const count = kinds.filter((one) => one === kind).length
    return count === 0 ? [] : [count === 1 ? kind : `${kind} ×${count}`]
  }).join(', ')
}

/** `token 2`: the second that was issued; of an assertion its instance. */
function credentialOf(request: SeenRequest): string {
  const authorization = firstOf(request, 'authorization')
  if (authorization === undefined) return 'none'
  if (authorization.startsWith('AgentAssertion ')) return `instance ${instanceOf(authorization.slice(15))}`
  const claims = Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()
  const token = `token ${/token-(\d+)/.exec(claims)?.[1] ?? '?'}`
  const assertion = firstOf(request, 'x-openai-agent-assertion')
  return assertion === undefined ? token : `${token} and instance ${instanceOf(assertion)}`
}

function instanceOf(assertion: string): string {
  const claims = Buffer.from(assertion.split('.')[2] ?? '', 'base64url').toString()
  return /rti-(\d+)/.exec(claims)?.[1] ?? '?'
}

function firstOf({ headers }: SeenRequest, name: string): string | undefined {
  return headers.find(([known]) => known === name)?.[1]
}
