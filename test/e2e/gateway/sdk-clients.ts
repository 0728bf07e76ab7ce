import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

export type Target =
  | { readonly kind: 'http'; readonly url: string; readonly token: string }
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Record<string, string>
    }

export interface Heard {
  readonly method: string
  readonly params?: unknown
}

/** What a client answers when a server asks; and what it heard. */
export interface Ears {
  readonly heard: Heard[]
  readonly onElicit: (params: unknown) => { action: 'accept'; content: Record<string, string> } | { action: 'decline' }
}

export interface CallExtras {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: unknown) => void
}

/** The verbs of an SDK client that both generations and eras have, with one spelling. */
export interface SdkClient extends AsyncDisposable {
  readonly era: 'legacy' | 'modern'
  readonly instructions: string | undefined
  readonly server: { readonly name: string; readonly version: string } | undefined
  readonly capabilities: object | undefined
  listTools(): Promise<{ name: string }[]>
  callTool(name: string, args?: Record<string, unknown>, extras?: CallExtras): Promise<Record<string, unknown>>
  listResources(): Promise<{ uri: string }[]>
  listTemplates(): Promise<{ uriTemplate: string }[]>
  read(uri: string): Promise<unknown[]>
  subscribe(uri: string): Promise<unknown>
  unsubscribe(uri: string): Promise<unknown>
  listPrompts(): Promise<{ name: string }[]>
  getPrompt(name: string, args?: Record<string, string>): Promise<Record<string, unknown>>
  complete(params: CompleteParams): Promise<unknown>
  setLevel(level: 'debug' | 'warning'): Promise<unknown>
  rootsChanged(): Promise<void>
  ping(): Promise<unknown>
}

type CompleteParams = {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
  argument: { name: string; value: string }
}

export const MODERN = '2026-07-28'
const INFO = { name: 'e2e', version: '1.2.3', title: 'End to end' }
const CAPABILITIES = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } }
const ROOTS = { roots: [{ uri: 'file:///work', name: 'work' }] }
const SAMPLE = { model: 'none', role: 'assistant' as const, content: { type: 'text' as const, text: 'sampled' } }

export type Negotiation = 'legacy' | 'auto' | { readonly pin: string }

export async function connectV2(target: Target, ears: Ears, mode: Negotiation = 'legacy'): Promise<SdkClient> {
  const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } })
  client.setRequestHandler('roots/list', async () => ROOTS)
  client.setRequestHandler('sampling/createMessage', async () => SAMPLE)
  client.setRequestHandler('elicitation/create', async ({ params }) => ears.onElicit(params))
  client.fallbackNotificationHandler = async (heard) => void ears.heard.push(heard)
  const transport =
    target.kind === 'http'
      ? new HttpV2(new URL(target.url), { requestInit: { headers: { authorization: `Bearer ${target.token}` } } })
      : new StdioV2({ command: target.command, args: [...target.args], env: target.env, stderr: 'ignore' })
  await client.connect(transport)
  const verbs = client.getNegotiatedProtocolVersion() === MODERN ? await modernVerbs(client) : legacyVerbs(client)
  return {
    ...verbs,
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args = {}, { signal, onProgress } = {}) =>
      client.callTool(
        { name, arguments: args, ...verbs.metaOfCalls() },
        { ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) },
      ),
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents,
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name, args = {}) => client.getPrompt({ name, arguments: args }),
    complete: async (params) => (await client.complete(params)).completion,
    [Symbol.asyncDispose]: async () => {
      if (transport instanceof HttpV2) await transport.terminateSession()
      await client.close()
    },
  }
}

interface EraVerbs extends Pick<SdkClient, 'era' | 'subscribe' | 'unsubscribe' | 'setLevel' | 'rootsChanged' | 'ping'> {
  metaOfCalls(): { _meta?: Record<string, unknown> }
}

function legacyVerbs(client: ClientV2): EraVerbs {
  return {
    era: 'legacy',
    metaOfCalls: () => ({}),
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
    setLevel: (level) => client.setLoggingLevel(level),
    rootsChanged: () => client.sendRootsListChanged(),
    ping: () => client.ping(),
  }
}

/** Hears of changed tools from the start, and of the whole log, as a legacy client does. */
async function modernVerbs(client: ClientV2): Promise<EraVerbs> {
  const streams = new Map<string, { close(): Promise<void> }>()
  await client.listen({ toolsListChanged: true })
  let level = 'debug'
  return {
    era: 'modern',
    metaOfCalls: () => ({ _meta: { 'io.modelcontextprotocol/logLevel': level } }),
    subscribe: async (uri) => streams.set(uri, await client.listen({ resourceSubscriptions: [uri] })),
    unsubscribe: async (uri) => streams.get(uri)?.close(),
    setLevel: async (next) => {
      level = next
    },
    rootsChanged: () => Promise.reject(new Error('no such notification')),
    ping: () => client.discover(),
  }
}

export async function connectV1(target: Target, ears: Ears): Promise<SdkClient> {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES })
  client.setRequestHandler(ListRootsRequestSchema, async () => ROOTS)
  client.setRequestHandler(CreateMessageRequestSchema, async () => SAMPLE)
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ears.onElicit(params))
  client.fallbackNotificationHandler = async (heard) => void ears.heard.push(heard)
  const transport =
    target.kind === 'http'
      ? new HttpV1(new URL(target.url), { requestInit: { headers: { authorization: `Bearer ${target.token}` } } })
      : new StdioV1({ command: target.command, args: [...target.args], env: target.env, stderr: 'ignore' })
  await client.connect(transport)
  return {
    era: 'legacy',
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    listTools: () => everyPage((cursor) => client.listTools(cursor), 'tools'),
    callTool: (name, args = {}, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, CallToolResultSchema, {
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      }),
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents,
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name, args = {}) => client.getPrompt({ name, arguments: args }),
    complete: async (params) => (await client.complete(params)).completion,
    setLevel: (level) => client.setLoggingLevel(level),
    rootsChanged: () => client.sendRootsListChanged(),
    ping: () => client.ping(),
    [Symbol.asyncDispose]: async () => {
      if (transport instanceof HttpV1) await transport.terminateSession()
      await client.close()
    },
  }
}

async function everyPage<M extends string, T>(
  page: (params: { cursor?: string }) => Promise<{ nextCursor?: string | undefined } & Record<M, T[]>>,
  member: M,
): Promise<T[]> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const result = await page(cursor === undefined ? {} : { cursor })
    items.push(...result[member])
    cursor = result.nextCursor
  } while (cursor !== undefined)
  return items
}
