import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load.js'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-gateway-auth-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function load(toml: string) {
  await writeFile(join(home, 'config.toml'), toml)
  return loadConfig({ home, cwd: home, env: {}, requirementsFile: join(home, 'none.toml') })
}

describe('[gateway.auth]', () => {
  it('names the issuer and what is taken of it', async () => {
    const { gatewayAuth, problems } = await load(`
      [gateway.auth]
      issuer = "https://login.example"
      resource = "https://mcp.example/mcp"
      audience = ["mcp"]
      jwks_url = "https://login.example/keys"
      algorithms = ["ES256"]
      required_scopes = ["mcp"]
      initial_scopes = ["mcp:tools"]
      clock_skew_sec = 5
      [gateway.auth.scopes]
      "tools/*" = ["mcp:tools"]
    `)
    expect(problems).toEqual([])
    expect(gatewayAuth).toEqual({
      issuer: 'https://login.example',
      resource: 'https://mcp.example/mcp',
      audience: ['mcp'],
      jwksUrl: 'https://login.example/keys',
      algorithms: ['ES256'],
      requiredScopes: ['mcp'],
      initialScopes: ['mcp:tools'],
      clockSkewMs: 5000,
      scopes: new Map([['tools/*', ['mcp:tools']]]),
    })
  })

  it.each([
    ['resource = "https://x.example"', 'needs an issuer'],
    ['issuer = "login"', 'must be a URL'],
    ['issuer = "https://login.example"\naudience = []', 'at least one'],
    ['issuer = "https://login.example"\nclock_skew_sec = 3600', 'expected 0 to 300 seconds'],
    ['issuer = 5', 'invalid type'],
  ])('is refused whole where it is wrong: %s', async (toml, message) => {
    const { gatewayAuth, problems } = await load(`[gateway.auth]\n${toml}\n`)
    expect(gatewayAuth).toBeUndefined()
    expect(problems).toMatchObject([{ severity: 'error', message: expect.stringContaining(message) }])
  })

  it("does not count in a project's configuration", async () => {
    const project = join(home, 'project')
    await mkdir(join(project, '.reeve'), { recursive: true })
    await writeFile(join(project, '.reeve', 'config.toml'), '[gateway.auth]\nissuer = "https://evil.example"\n')
    await writeFile(join(home, 'config.toml'), `[projects."${project}"]\ntrust_level = "trusted"\n`)
    const { gatewayAuth } = await loadConfig({ home, cwd: project, env: {}, requirementsFile: join(home, 'none.toml') })
    expect(gatewayAuth).toBeUndefined()
    const exchange = '[mcp_servers.x]\nurl = "https://x.example"\noauth.token_exchange = { client_id = "r" }\n'
    await writeFile(join(project, '.reeve', 'config.toml'), exchange)
    const again = await loadConfig({ home, cwd: project, env: {}, requirementsFile: join(home, 'none.toml') })
    expect([again.servers, again.problems]).toMatchObject([[], [{ code: 'not_in_project', server: 'x' }]])
  })
})

describe('oauth.token_exchange of a server', () => {
  const SERVER = '[mcp_servers.x]\nurl = "https://x.example/mcp"\n[mcp_servers.x.oauth.token_exchange]\n'

  it('names the client and the target', async () => {
    const { servers, problems } = await load(
      `${SERVER}client_id = "reeve"\nclient_secret_env = "S"\naudience = "x"\nscopes = ["read"]\n`,
    )
    expect(problems).toEqual([])
    expect(servers[0]?.config.transport).toMatchObject({
      oauth: { tokenExchange: { clientId: 'reeve', clientSecretEnv: 'S', audience: 'x', scopes: ['read'] } },
    })
  })

  it.each(['audience = "x"', 'client_id = "r"\nresource = "x"', 'client_id = "r"\ntoken_endpoint = "x"'])(
    'makes no server where it is wrong: %s',
    async (toml) => {
      const { servers, problems } = await load(SERVER + toml)
      expect(servers).toEqual([])
      expect(problems).toMatchObject([{ severity: 'error', server: 'x' }])
    },
  )
})
