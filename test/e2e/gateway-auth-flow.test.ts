import { readdirSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  Client,
  type OAuthClientInformation,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { principalId } from '../../src/gateway/inbound-auth/index.js'
import { AuthorizationServer } from '../standins/authorization-server.js'
import { json, TokenIssuer } from '../standins/token-issuer.js'
import { buildCli, type CliHome, cliHome, echo, printed } from './built-cli.js'

beforeAll(buildCli)

let issuer: TokenIssuer
beforeEach(async () => {
  issuer = await TokenIssuer.listen()
})
afterEach(() => issuer[Symbol.asyncDispose]())

/** Who logs in, as the SDK wants it told; its browser follows the redirect by itself. */
class Person implements OAuthClientProvider {
  readonly name: string
  code: string | undefined
  readonly asked: URLSearchParams[] = []
  #tokens: OAuthTokens | undefined
  #client: OAuthClientInformation | undefined
  #verifier = ''

  constructor(name: string) {
    this.name = name
  }

  readonly redirectUrl = 'http://127.0.0.1:9/callback'
  readonly clientMetadata = { redirect_uris: ['http://127.0.0.1:9/callback'], client_name: 'a client' }
  clientInformation = () => this.#client
  saveClientInformation = (client: OAuthClientInformation) => {
    this.#client = client
  }
  tokens = () => this.#tokens
  saveTokens = (tokens: OAuthTokens) => {
    this.#tokens = tokens
  }
  codeVerifier = () => this.#verifier
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    this.asked.push(url.searchParams)
    issuer.user = this.name
    const answer = await fetch(url, { redirect: 'manual' })
    this.code = answer.headers.get('location') ?? undefined
  }
  get callback(): URLSearchParams {
    return new URL(this.code ?? '').searchParams
  }
  get accessToken(): string {
    return this.#tokens?.access_token ?? ''
  }
}

async function serving(home: CliHome, ...args: string[]) {
  const program = home.start(['serve', '--http', '127.0.0.1:0', '--auth-issuer', issuer.origin, ...args])
  const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
  return { program, url }
}

type Era = 'legacy' | 'modern'

function clientOf(era: Era): Client {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' }
  return new Client({ name: 'a client', version: '1' }, { versionNegotiation: { mode } })
}

/** The whole way: refused, told where to log in, logged in, connected. */
async function logIn(url: string, person: Person, era: Era = 'legacy'): Promise<Client> {
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: person })
  const first = open()
  const client = clientOf(era)
  await expect(client.connect(first)).rejects.toThrow(UnauthorizedError)
  await first.finishAuth(person.callback)
  const again = clientOf(era)
  await again.connect(open())
  return again
}

const textOf = (result: object) => JSON.stringify(result)

describe('a client that logs in at the authorization server of a gateway', () => {
  it.each<Era>(['legacy', 'modern'])('finds it by itself, calls tools, and steps up: %s', async (era) => {
    await using home = await cliHome({ notes: echo() })
    const { program, url } = await serving(home)
    await printed(program, /^login\s+at http:\S+, which clients find by themselves$/m)
    await printed(program, /^ {2}claude mcp add --scope user --transport http reeve http:\S+\/mcp$/m)
    expect(program.stderr()).not.toContain('REEVE_TOKEN')
    const ann = new Person('ann')
    issuer.grants = ['mcp:prompts', 'mcp:resources']
    const client = await logIn(url, ann, era)
    expect(ann.asked[0]?.get('resource')).toBe(url)
    expect(ann.asked[0]?.get('scope')).toBe('mcp:tools mcp:resources mcp:prompts')
    issuer.grants = undefined
    await expect(client.listTools()).rejects.toThrow(UnauthorizedError)
    expect(ann.asked.at(-1)?.get('scope')?.split(' ')).toEqual(
      expect.arrayContaining(['mcp:tools', 'mcp:resources', 'mcp:prompts']),
    )
    await client.close()
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: ann })
    await transport.finishAuth(ann.callback)
    const stepped = clientOf(era)
    await stepped.connect(transport)
    expect(stepped.getNegotiatedProtocolVersion() === '2026-07-28').toBe(era === 'modern')
    const { tools } = await stepped.listTools()
    expect(tools.map(({ name }) => name)).toContain('notes__process')
    await stepped.callTool({ name: 'notes__process', arguments: {} })
    await stepped.close()
  })

  it('shares no server with another one, and servers never see what they came with', async () => {
    const upstream = await recordingServer()
    await using home = await cliHome({ notes: echo() })
    const settings = `[mcp_servers.up]\nurl = "${upstream.url}"\n[mcp_servers.up.oauth.token_exchange]\nclient_id = "reeve"\naudience = "up"\n`
    await writeFile(join(home.folder, 'config.toml'), readFileSync(join(home.folder, 'config.toml'), 'utf8') + settings)
    issuer.exchange = (form) => {
      const claims = JSON.parse(Buffer.from(form.get('subject_token')?.split('.')[1] ?? '', 'base64url').toString())
      return json(200, { access_token: `up-${claims.sub}`, token_type: 'Bearer', expires_in: 300 })
    }
    const { program, url } = await serving(home)
    await printed(program, /^notes\s+\d+ tools?$/m)
    const people = [new Person('ann'), new Person('bob')]
    const pids: unknown[] = []
    for (const person of people) {
      const client = await logIn(url, person)
      const process = await client.callTool({ name: 'notes__process', arguments: {} })
      const [said] = process.content
      pids.push(JSON.parse(said?.type === 'text' ? said.text : '{}').pid)
      expect(textOf(process)).not.toContain(person.accessToken)
      const who = await client.callTool({ name: 'up__whoami', arguments: {} })
      expect(textOf(who)).toContain(`Bearer up-${person.name}`)
      await client.close()
    }
    expect(new Set(pids).size).toBe(2)
    program.child.kill('SIGTERM')
    await program.exited
    const audit = await home.reeve(['audit', '--json'])
    const rows = audit.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const ids = people.map(({ name }) => principalId(issuer.origin, name))
    expect(new Set(rows.map(({ principal }) => principal))).toEqual(new Set(ids))
    const own = await home.reeve(['audit', '--json', '--principal', String(ids[1])])
    expect(own.stdout.trim().split('\n')).toHaveLength(2)
    await upstream.close()
    const seen = [upstream.seen(), program.stderr(), audit.stdout, ...filesOf(home.folder)].join('\n')
    expect(seen).toContain('Bearer up-ann')
    // Nobody came there before somebody had a token for it.
    expect(upstream.seen().split('\n')[0]).toContain('Bearer up-ann')
    for (const { accessToken } of people) {
      expect(accessToken.split('.')).toHaveLength(3)
      for (const part of accessToken.split('.').slice(1)) expect(seen).not.toContain(part)
    }
  })
})

describe('the login of a user of the gateway to a server', () => {
  it('is made by the operator, counts at once, and for that user alone', async () => {
    await using guarded = await AuthorizationServer.listen()
    await using home = await cliHome({ guarded: { url: guarded.resourceUrl }, notes: echo() })
    const { url } = await serving(home)
    const [ann, bob] = [new Person('ann'), new Person('bob')]
    const clients = [await logIn(url, ann), await logIn(url, bob)] as const
    const [annsId, bobsId] = [principalId(issuer.origin, 'ann'), principalId(issuer.origin, 'bob')]
    const browser = join(home.folder, 'browser.mjs')
    await writeFile(browser, `#!${process.execPath}\nawait fetch(process.argv[2])\n`, { mode: 0o755 })
    const operator = (...args: string[]) => home.reeve(args, { env: { BROWSER: browser } })
    expect(await operator('login', 'guarded', '--principal', annsId)).toMatchObject({
      code: 0,
      stdout: `logged in to guarded at ${guarded.origin} for ${annsId}\n`,
    })
    const states = async (...args: string[]) =>
      JSON.parse((await operator('--json', 'auth', 'status', ...args)).stdout).servers[0].auth_status
    expect(await states('--principal', annsId)).toBe('o_auth')
    expect(await states('--principal', bobsId)).toBe('not_logged_in')
    expect(await states()).toBe('not_logged_in')
    const who = await clients[0].callTool({ name: 'guarded__whoami', arguments: {} })
    expect(textOf(who)).toContain('you')
    await expect(clients[1].callTool({ name: 'guarded__whoami', arguments: {} })).rejects.toThrow('Unknown tool')
    expect((await operator('logout', 'guarded')).code).toBe(1)
    expect((await operator('logout', 'guarded', '--principal', annsId)).code).toBe(0)
    await expect(clients[0].callTool({ name: 'guarded__whoami', arguments: {} })).rejects.toThrow()
    for (const client of clients) await client.close()
  })

  it('is refused for who can be nobody, and where tokens are exchanged', async () => {
    await using home = await cliHome()
    const config =
      '[mcp_servers.up]\nurl = "http://127.0.0.1:9/mcp"\n[mcp_servers.up.oauth.token_exchange]\nclient_id = "reeve"\n'
    await writeFile(join(home.folder, 'config.toml'), config)
    expect(await home.reeve(['login', 'up', '--principal', 'two words'])).toMatchObject({ code: 2 })
    const refused = await home.reeve(['login', 'up', '--principal', 'oauth-1'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('oauth.token_exchange') })
  })
})

describe('reeve serve and doctor', () => {
  it.each([
    [['--no-token'], /either/],
    [['--token-file', 'x'], /either/],
    [['--no-auth'], /exclude each other/],
  ])('refuses --auth-issuer with %j', async (args, message) => {
    await using home = await cliHome()
    const { code, stderr } = await home.reeve([
      'serve',
      '--http',
      '127.0.0.1:0',
      '--auth-issuer',
      issuer.origin,
      ...args,
    ])
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(message)])
  })

  it('lets nobody in by another way when [gateway.auth] is wrong', async () => {
    await using home = await cliHome()
    await writeFile(join(home.folder, 'config.toml'), '[gateway.auth]\naudience = ["x"]\n')
    const { code, stderr } = await home.reeve(['serve', '--http', '127.0.0.1:0'])
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('needs an issuer')])
  })

  it('names an issuer that can not be used', async () => {
    await using home = await cliHome()
    await writeFile(join(home.folder, 'config.toml'), `[gateway.auth]\nissuer = "${issuer.origin}"\n`)
    expect((await home.reeve(['doctor'])).stdout).not.toContain('gateway_auth')
    issuer.answers.set('/jwks', (response) => void response.end('<html>'))
    const broken = await home.reeve(['doctor', '--json'])
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('gateway_auth_oauth_invalid_answer')])
    await writeFile(join(home.folder, 'config.toml'), `[gateway.auth]\nissuer = "${issuer.origin}/"\n`)
    expect((await home.reeve(['doctor', '--json'])).stdout).toContain('gateway_auth_oauth_issuer_mismatch')
  })
})

/** An MCP server that keeps all that it is sent, and says which credentials it saw. */
async function recordingServer() {
  const seen: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      seen.push(JSON.stringify([request.method, request.url, request.rawHeaders, body]))
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method } = JSON.parse(body)
      if (id === undefined) return void response.writeHead(202).end()
      const { authorization } = request.headers
      if (authorization === undefined) return void response.writeHead(401).end()
      const results: Readonly<Record<string, unknown>> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'up', version: '1' },
        },
        'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: authorization }] },
      }
      const result = results[method]
      const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen: () => seen.join('\n'),
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
}
