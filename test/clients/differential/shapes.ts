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
  return { error: message, ...(code !== undefined && { code }) }
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

/** The states that were told of each server, in the order of the servers' names. */
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
    keys.map((key) => [
      key,
      told.filter((one) => keyShape(one) === key).map(({ status, error }) => (error ? `${status}: ${error}` : status)),
    ]),
  )
}

export function namespaceShape(namespace: {
  readonly name: string
  readonly description: string
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: Json }[]
}): Json {
  return {
    [namespace.name]: {
      description: namespace.description,
      tools: namespace.tools.map(({ name, description, parameters }) => ({ [name]: description, parameters })),
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

export function itemShape(item: {
  readonly server: string
  readonly environment: string | null
  readonly status: string
}): Json {
  return `${item.environment === null ? item.server : `${item.server} in ${item.environment}`}: ${item.status}`
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
