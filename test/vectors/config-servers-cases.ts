import { z } from 'zod'

export const FILE = 'config-servers.json'

const ToolModes = z.record(z.string(), z.object({ approval_mode: z.string() }))
const Roots = z.array(z.strictObject({ rootId: z.string(), environmentId: z.string() }))

export const Input = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('config'), toml: z.string() }),
  z.strictObject({ kind: z.literal('strictConfig'), toml: z.string() }),
  z.strictObject({
    kind: z.literal('precedence'),
    startup_timeout_sec: z.number().optional(),
    startup_timeout_ms: z.number().optional(),
    default_tools_approval_mode: z.string().optional(),
    tools: ToolModes.optional(),
    tool: z.string().optional(),
    environmentId: z.string().optional(),
    serverName: z.string().optional(),
    sources: z.array(z.string()).optional(),
    sharedState: z.enum(['enabled', 'disabled', 'failing']).optional(),
  }),
  z.strictObject({
    kind: z.literal('filter'),
    enabled_tools: z.array(z.string()),
    disabled_tools: z.array(z.string()),
    tools: z.array(z.string()),
  }),
  z.strictObject({
    kind: z.literal('executorConfig'),
    environmentId: z.string().optional(),
    toml: z.string(),
    pluginServers: z.array(z.string()).optional(),
  }),
  z.strictObject({
    kind: z.literal('pluginPolicy'),
    toml: z.string(),
    roots: Roots.optional(),
    installations: z.array(z.string()).optional(),
    tools: z.array(z.string()).optional(),
  }),
  z.strictObject({
    kind: z.literal('pluginDeclaration'),
    pluginRoot: z.string(),
    server: z.record(z.string(), z.union([z.string(), z.number()])),
    siblings: z.array(z.string()),
  }),
  z.strictObject({ kind: z.literal('pluginManifest'), text: z.string() }),
  z.strictObject({ kind: z.literal('startup'), toml: z.string() }),
  z.strictObject({ kind: z.literal('startupRequired'), serverName: z.string(), required: z.boolean() }),
  z.strictObject({ kind: z.literal('listJson'), serverName: z.string(), transport: z.string() }),
  z.strictObject({ kind: z.literal('getJson'), serverName: z.string() }),
])
export type Input = z.infer<typeof Input>
export type Of<Kind extends Input['kind']> = Extract<Input, { kind: Kind }>
