import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reeve, type ReeveOptions, sessionOf, type Thread, type ThreadOptions } from '../../src/reeve.js'
import { type Backend, startBackend } from './backend.js'
import type { SeenRequest } from './backend-model.js'
import { readAssertion } from './backend-tokens.js'

export const HUB_PATH = '/backend-api/test/mcp'
export const HUB = { server: 'hub' } as const

/** The mode as the configuration writes it. */
export const MODE_LINES = {
  off: '',
  dual_header: '[features]\nruntime_agent_instances = true\n',
  assertion_only: '[features.runtime_agent_instances]\nenabled = true\nmode = "assertion_only"\n',
} as const

export interface BackendRuntimeOptions extends Partial<ReeveOptions> {
  readonly mode?: keyof typeof MODE_LINES
  /** More of the configuration. */
  readonly config?: string
  readonly serverConfig?: string
  /** Who is signed in from the start; null: nobody. */
  readonly account?: string | null
  /** Instead of a backend of its own; ends with the runtime. */
  readonly backend?: Backend
  /** The home is made in this folder, and stays. */
  readonly homesIn?: string
}

/** A whole runtime with a home of its own, whose first-party backend is the stand-in, over TLS and under its real names. */
export interface BackendRuntime extends AsyncDisposable {
  readonly backend: Backend
  readonly reeve: Reeve
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly threads: Thread[]
  thread(options?: ThreadOptions): Promise<Thread>
  signIn(account: string, facts?: { readonly exp?: number }): Promise<void>
  /** What reached the MCP server, in order. */
  sent(rpc?: string): readonly SeenRequest[]
}

export async function startBackendRuntime(options: BackendRuntimeOptions = {}): Promise<BackendRuntime> {
  const { mode = 'off', config = '', serverConfig = '', account = 'acct-1', backend: given, homesIn, ...rest } = options
  const home = await mkdtemp(join(homesIn ?? tmpdir(), 'reeve-first-party-'))
  const backend = given ?? (await startBackend())
  const ca = join(home, 'ca.pem')
  await writeFile(ca, backend.ca)
  const file = join(home, 'config.toml')
  const server = `[mcp_servers.hub]\nurl = "https://chatgpt.com${HUB_PATH}"\nauth = "chatgpt"\n${serverConfig}\n`
  await writeFile(file, `${config}\n${MODE_LINES[mode]}\n${server}`)
  const env = { HOME: home, REEVE_HOME: home, REEVE_CA_CERTIFICATE: ca }
  const firstParty = { route: backend.route, ...rest.firstParty }
  const reeve = await Reeve.open({
    home,
    env,
    cwd: home,
    configFiles: [file],
    credentials: { from: 'home' },
    ...rest,
    firstParty,
  })
  const threads: Thread[] = []
  const runtime: BackendRuntime = {
    backend,
    reeve,
    home,
    env,
    threads,
    thread: async (given = {}) => {
      const thread = await reeve.startThread({ ...(reeve.auth && { auth: reeve.auth }), ...given })
      threads.push(thread)
      return thread
    },
    signIn: async (name, facts) => {
      const user = name.replace('acct', 'user')
      await reeve.auth?.login(sessionOf(backend.model.issue({ account: name, user, ...facts })))
    },
    sent: (rpc) =>
      backend.model.requests.filter(
        ({ path, body, method }) =>
          path === HUB_PATH && (rpc === undefined || (method === 'POST' ? body.includes(`"${rpc}"`) : method === rpc)),
      ),
    [Symbol.asyncDispose]: async () => {
      await reeve.close()
      await backend[Symbol.asyncDispose]()
      if (homesIn === undefined) await rm(home, { recursive: true, force: true })
    },
  }
  if (account !== null) await runtime.signIn(account)
  return runtime
}

/** Ids of the assertions in these requests. */
export function assertionIds(requests: readonly SeenRequest[]): readonly (string | undefined)[] {
  return requests.map(({ assertion }) => (assertion === null ? undefined : readAssertion(assertion).id))
}

/** The scheme of the `Authorization` of these requests; null where there is none. */
export function schemes(requests: readonly SeenRequest[]): readonly (string | null)[] {
  return requests.map(({ headers }) => headers.find(([name]) => name === 'authorization')?.[1].split(' ')[0] ?? null)
}
