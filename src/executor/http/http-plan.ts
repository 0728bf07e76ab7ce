import type { Variables } from '../processes/env-policy.js'
import { invalidParams } from '../wire/fault.js'
import type { Params } from '../wire/params.js'

/** One `http/request`, checked (reference: executor-protocol, 7). */
export interface HttpPlan {
  readonly method: string
  readonly url: URL
  /** Names in lower case, in order, repeats kept. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer | undefined
  /** Of the whole exchange, the body included. */
  readonly timeoutMs: number | undefined
  readonly redirects: 'follow' | 'stop'
  readonly requestId: string
  readonly streamed: boolean
}

/** @throws RpcError -32602; its text holds neither a header value nor what stands in a URL behind the host */
export function httpPlan(params: Params, variables: Variables): HttpPlan {
  const method = params.text('method')
  if (!TOKEN.test(method)) throw invalidParams('http/request: method is invalid')
  return {
    method,
    url: target(params.text('url')),
    headers: params.groups('headers').map((header) => headerOf(header, variables)),
    body: params.optionalBytes('bodyBase64'),
    timeoutMs: params.optionalCount('timeoutMs'),
    redirects: params.optionalOneOf('redirectPolicy', ['follow', 'stop']) ?? 'follow',
    requestId: params.text('requestId'),
    streamed: params.optionalFlag('streamResponse') ?? false,
  }
}

function target(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw invalidParams('http/request: url is invalid')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalidParams('http/request: only http and https URLs are supported')
  return url
}

function headerOf(header: Params, variables: Variables): readonly [string, string] {
  const name = header.text('name')
  if (!TOKEN.test(name)) throw invalidParams('http/request: a header name is invalid')
  const prefix = header.text('value')
  const variable = header.optionalText('valueEnvVar')
  const own = variable === undefined ? '' : Object.hasOwn(variables, variable) ? variables[variable] : undefined
  if (own === undefined)
    throw invalidParams(`http/request: header ${name} requires the executor's environment variable ${variable}`)
  const value = prefix + own
  if (!FIELD_VALUE.test(value)) throw invalidParams(`http/request: the value of header ${name} is invalid`)
  return [name.toLowerCase(), value]
}

/** RFC 9110, 5.6.2 and 5.5. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
