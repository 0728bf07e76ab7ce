import type { ServerConfig, ServerTransport } from '../../config/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { digestOf } from './digest.js'

/** What an approval was given for, beside the names: a change of either asks again (reference: known-quirks, 32). */
export interface ApprovalBinding {
  /** Digest of how the server is started or reached. */
  readonly endpoint: string
  /** Digest of what the tool says it takes, gives and does. */
  readonly definition: string
}

export function bindingOf(
  config: Pick<ServerConfig, 'transport' | 'environmentId'>,
  definition: JsonObject,
): ApprovalBinding {
  return Object.freeze({ endpoint: endpointFingerprint(config), definition: definitionDigest(definition) })
}

export function sameBinding(a: ApprovalBinding, b: ApprovalBinding): boolean {
  return a.endpoint === b.endpoint && a.definition === b.definition
}

/**
 * Of the place, and of command, arguments, working directory and names of variables, or of the URL and names of headers.
 * Values of variables and headers are left out: a token that is renewed is no other server.
 */
export function endpointFingerprint({
  transport,
  environmentId,
}: Pick<ServerConfig, 'transport' | 'environmentId'>): string {
  return digestOf({ environment: environmentId, ...placeOf(transport) })
}

function placeOf(transport: ServerTransport): object {
  if (transport.type !== 'stdio') {
    const { url, httpHeaders, envHttpHeaders, httpHeadersHelper, bearerTokenEnvVar } = transport
    return {
      url,
      headers: [...Object.keys(httpHeaders), ...Object.keys(envHttpHeaders)].map((name) => name.toLowerCase()).sort(),
      helper: httpHeadersHelper,
      bearerTokenEnvVar,
    }
  }
  const { command, args, cwd, env, envVars, sandbox } = transport
  const taken = envVars.map((variable) => (typeof variable === 'string' ? variable : variable.name))
  return { command, args, cwd, variables: [...Object.keys(env), ...taken].sort(), ...(sandbox && { sandbox }) }
}

/** What a person or model judges a tool by. Not `_meta` nor icons, which may change from one listing to the next. */
const JUDGED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const

export function definitionDigest(definition: JsonObject): string {
  return digestOf(JUDGED.map((member) => (Object.hasOwn(definition, member) ? definition[member] : undefined) ?? null))
}
