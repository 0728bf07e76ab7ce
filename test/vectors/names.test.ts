import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Catalog, threadCatalog, usableRoots } from '../../src/catalog/index.js'
import type { EnvironmentCapabilities } from '../../src/environments/index.js'
import { ReeveError, UnsupportedCallError } from '../../src/errors.js'
import {
  checkServerName,
  codexNaming,
  environmentHash,
  type NamedTool,
  type ServerKey,
  sanitise,
  serverKey,
} from '../../src/identity/index.js'
import { stdioConfig } from '../fixtures/server-config.js'
import { oursOf, vectorCases } from './cases.js'

const FILE = 'names.json'

const Server = z.object({ environmentId: z.string().nullable(), serverName: z.string(), tools: z.array(z.string()) })
const NameSet = { multiEnvironment: z.boolean(), prefixed: z.boolean(), servers: z.array(Server) }
const Root = z.object({
  rootId: z.string(),
  environmentId: z.string(),
  path: z.string().optional(),
  serverName: z.string(),
})

const Input = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('namespaces'), ...NameSet }),
  z.strictObject({ kind: z.literal('flatNames'), ...NameSet }),
  z.strictObject({ kind: z.literal('environmentHash'), environmentId: z.string() }),
  z.strictObject({ kind: z.literal('sanitise'), raw: z.string() }),
  z.strictObject({ kind: z.literal('serverNameCheck'), serverName: z.string() }),
  z.strictObject({
    kind: z.literal('registration'),
    multiEnvironment: z.boolean(),
    selectedEnvironments: z.array(z.string()).optional(),
    sharedServers: z.array(
      z.object({ serverName: z.string(), state: z.enum(['enabled', 'disabled', 'failing to start']) }),
    ),
    roots: z.array(Root),
  }),
  z.strictObject({ kind: z.literal('callMiss'), namespace: z.string().nullable(), name: z.string() }),
])
type Input = z.infer<typeof Input>
type NameSet = Extract<Input, { kind: 'namespaces' | 'flatNames' }>
type Registration = Extract<Input, { kind: 'registration' }>

describe(FILE, () => {
  for (const one of vectorCases(FILE)) {
    const input = Input.parse(one.input)
    it(one.name, () => {
      expect(answer(input)).toEqual(one.expected)
    })
    const ours = oursOf(FILE, one)
    if (ours !== undefined && input.kind === 'registration') {
      it(`${one.name}, ours`, () => {
        expect(register(input, { compatibility: false })).toEqual(ours)
      })
    }
  }
})

function answer(input: Input): unknown {
  switch (input.kind) {
    case 'namespaces':
      return { namespaces: namespacesOf(assign(input)) }
    case 'flatNames':
      return {
        flatNames: assign(input)
          .map(({ flat }) => flat)
          .sort(),
      }
    case 'environmentHash':
      return { hash: environmentHash(input.environmentId) }
    case 'sanitise':
      return { value: sanitise(input.raw) }
    case 'serverNameCheck':
      return nameCheck(input.serverName)
    case 'registration':
      return register(input, { compatibility: true })
    case 'callMiss':
      return { output: new UnsupportedCallError(input.namespace ?? '', input.name).message }
  }
}

function assign({ servers, multiEnvironment, prefixed }: NameSet): readonly NamedTool[] {
  const inputs = servers.flatMap(({ serverName, environmentId, tools }) =>
    tools.map((tool) => ({ key: serverKey(serverName, environmentId), tool })),
  )
  return codexNaming({ multiEnvironment, prefixed }).assign(inputs)
}

/** Consecutive tools of one namespace, so that the order counts too. */
function namespacesOf(named: readonly NamedTool[]) {
  const namespaces: { name: string; environmentId: string | null; serverName: string; tools: string[][] }[] = []
  for (const { namespace, name, key, tool } of named) {
    const open = namespaces.at(-1)
    if (open?.name === namespace) open.tools.push([name, tool])
    else
      namespaces.push({ name: namespace, environmentId: key.environment, serverName: key.name, tools: [[name, tool]] })
  }
  return namespaces
}

function nameCheck(serverName: string): unknown {
  try {
    checkServerName(serverName)
    return { valid: true }
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { valid: false, errorCode: error.code, text: error.message }
  }
}

function register(input: Registration, { compatibility }: { readonly compatibility: boolean }): unknown {
  const { multiEnvironment, selectedEnvironments = input.roots.map((root) => root.environmentId) } = input
  const { roots } = usableRoots(input.roots.map(toRoot), selectedEnvironments)
  const catalog = threadCatalog(
    {
      servers: input.sharedServers.map(({ serverName, state }) => ({
        name: serverName,
        config: stdioConfig({}, { enabled: state !== 'disabled' }),
      })),
      environments: selectedEnvironments.map((environment) => capabilitiesOf(environment, roots)),
      roots,
    },
    { multiEnvironment, compatibility },
  )
  const offered = offeredNamespaces(catalog, input)
  return { registered: catalog.servers.map(({ key }) => rowOf(key, catalog, input, offered)) }
}

/** As if each root held a plugin with its one server. */
function capabilitiesOf(environment: string, roots: readonly ReturnType<typeof toRoot>[]): EnvironmentCapabilities {
  const plugins = roots
    .filter((root) => root.environment === environment)
    .map(({ id, path, serverName }) => ({
      id,
      displayName: id,
      agentPlugin: false,
      environment,
      path,
      servers: new Map([[serverName, stdioConfig({}, { environmentId: environment })]]),
    }))
  return { environment, plugins, executorServers: new Map(), problems: [] }
}

function toRoot({ rootId, environmentId, path = '/', serverName }: z.infer<typeof Root>) {
  return { id: rootId, environment: environmentId, path, serverName }
}

/** What a model would see if every server that can start had one tool. */
function offeredNamespaces(catalog: Catalog, { multiEnvironment, sharedServers }: Registration): readonly NamedTool[] {
  const failing = new Set(
    sharedServers.filter(({ state }) => state === 'failing to start').map((one) => one.serverName),
  )
  const started = catalog.servers.filter(
    ({ key, config }) => config.enabled && !(key.environment === null && failing.has(key.name)),
  )
  return codexNaming({ multiEnvironment }).assign(started.map(({ key }) => ({ key, tool: 'whoami' })))
}

function rowOf(key: ServerKey, catalog: Catalog, { roots }: Registration, offered: readonly NamedTool[]) {
  const pluginId = catalog.attribution(key)?.id ?? null
  const path = roots.find((root) => root.rootId === pluginId && root.environmentId === key.environment)?.path
  return {
    serverName: key.name,
    environmentId: key.environment,
    pluginId,
    ...(path !== undefined && { path }),
    namespace: offered.find((named) => named.key === key)?.namespace ?? null,
  }
}
