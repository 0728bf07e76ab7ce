import { z } from 'zod'
import type { Json } from './questions.js'

/** The result of a call, as both sides relay it. */
export const CallResult = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.json().nullish(),
  isError: z.boolean().nullish(),
})

/** What came out of a call, whoever made it. */
export function callShape({ content, structuredContent, isError }: z.infer<typeof CallResult>): Json {
  const said = structuredContent ?? content.map(({ text }) => text ?? '').join('\n')
  return isError ? { failed: said } : { result: said }
}

export const ReadResult = z.object({ contents: z.array(z.object({ text: z.string().optional() })) })

export function readShape({ contents }: z.infer<typeof ReadResult>): Json {
  return { result: contents.map(({ text }) => text ?? '').join('\n') }
}

/** An error that the server answered with has its code; all others have none. */
export function errorShape(message: string, code?: number): Json {
  return { error: plainText(message), ...(code !== undefined && { code }) }
}

/** Which call or start it was about, before the reason, is said in words of each side's own. */
const FRAMES = [
  /^failed to get client: /,
  /^MCP client for `[^`]*` failed to start: /,
  /^tool call failed for `[^`]*`: /,
]
/** So is what the system or the process said last. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/(handshaking with MCP server failed: )(?:Send message error|the executor cannot).*/s, '$1no answer over HTTP'],
  [/(failed: connection closed: initialize response): .*/s, '$1'],
  [
    /(MCP startup failed: )(?:(?:exec-server rejected request \(-32603\): )?(?:No such file|spawn \S+ ENOENT)|.*cannot start).*/s,
    '$1no such program',
  ],
]

/** An error text without what is each side's own. */
export function plainText(text: string): string {
  const unframed = FRAMES.reduce((rest, frame) => rest.replace(frame, ''), text)
  return CAUSES.reduce((rest, [cause, plain]) => rest.replace(cause, plain), unframed)
}

/** `sorted` where none was named: Codex shuffles what it then takes. */
export function selectionShape(
  selected: readonly { readonly id: string; readonly cwd?: string }[],
  { folder, sorted }: { readonly folder: string; readonly sorted: boolean },
): Json {
  const lines = selected.map(({ id, cwd = '' }) => `${id}: ${cwd.replace(folder, '')}`)
  return sorted ? lines.sort() : lines
}

export interface Row {
  readonly name: string
  readonly environment: string | null
  readonly status: string | null
  readonly tools: number
}

export function rowsShape(rows: readonly Row[]): Json {
  return rows.map((row) => `${keyShape(row)}: ${row.status ?? 'unknown'}, ${row.tools} tools`)
}

/**
 * The states that were told of each server, in the order of the servers' names. How often one that fails is tried is a matter
 * of how many publications there are, and so of moments.
 */
export function startupsShape(
  told: readonly {
    readonly name: string
    readonly environment: string | null
    readonly status: string
    readonly error?: string | null
  }[],
): Json {
  const keys = [...new Set(told.map(keyShape))].sort()
  return Object.fromEntries(
    keys.map((key) => {
      const states = told
        .filter((one) => keyShape(one) === key)
        .map(({ status, error }) => (error ? `${status}: ${plainText(error)}` : status))
      return [key, states.filter((state, at) => !isRepeated(states, state.startsWith('failed') ? at : at + 1))]
    }),
  )
}

/** Whether the state here is a failure that came to the same as the one before it. */
function isRepeated(states: readonly string[], at: number): boolean {
  return at >= 3 && states[at]?.startsWith('failed') === true && states[at] === states[at - 2]
}

const Schema = z.record(z.string(), z.json())

export function namespaceShape(namespace: {
  readonly name: string
  readonly description: string
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[]
}): Json {
  return {
    [namespace.name]: {
      description: namespace.description,
      tools: namespace.tools.map(({ name, description, parameters }) => ({
        [name]: description,
        // Codex puts in what a schema of no arguments leaves out.
        parameters: { properties: {}, ...Schema.parse(parameters) },
      })),
    },
  }
}

const Parameters = z.object({
  properties: z.record(z.string(), z.object({ type: z.json().optional() })),
  required: z.array(z.string()).optional(),
  additionalProperties: z.json().optional(),
})

/** The texts are each side's own. */
export function functionShape(name: string, parameters: unknown): Json {
  const { properties, required, additionalProperties } = Parameters.parse(parameters)
  const types = Object.entries(properties).map(([property, { type }]) => `${property}: ${type}`)
  return {
    [name]: types.sort(),
    required: required ?? [],
    ...(additionalProperties !== undefined && { additionalProperties }),
  }
}

/** What a function gave the model, and what the thread item says of it; none when it failed before that was known. */
export function functionOutputShape(
  output: string,
  item: { readonly server: string; readonly environment: string | null; readonly status: string } | undefined,
): Json {
  const told = plainText(output)
  if (item === undefined) return { output: told }
  return { output: told, item: `${keyShape({ ...item, name: item.server })}: ${item.status}` }
}

export function keyShape({
  name,
  environment,
}: {
  readonly name: string
  readonly environment: string | null
}): string {
  return environment === null ? name : `${name} in ${environment}`
}
