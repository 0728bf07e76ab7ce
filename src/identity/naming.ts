import type { ServerKey } from './key.js'

/** A tool to be named: whose it is and what the server calls it. */
export interface NamingInput {
  readonly key: ServerKey
  /** The raw name on the wire. */
  readonly tool: string
  /** Hosted apps only; empty for regular servers. */
  readonly connectorId?: string
  /** Hosted apps only: the namespace before sanitising. Absent = the server's name. */
  readonly rawNamespace?: string
  /** Hosted apps only: the name before sanitising. Absent = the raw name. */
  readonly callableName?: string
}

/** What a model sees. `flat` is unique over one assignment; routing looks it up, never takes it apart. */
export interface ToolName {
  readonly namespace: string
  readonly name: string
  /** One string for clients without namespaces. */
  readonly flat: string
}

export interface NamedTool extends ToolName {
  readonly key: ServerKey
  readonly tool: string
}

/** Assigns names to the whole visible tool set of a binding. Pure. */
export interface NamingStrategy {
  readonly id: 'codex' | 'readable'
  /** In the order in which the tools are offered. A repeated identity appears once. */
  assign(tools: readonly NamingInput[]): readonly NamedTool[]
}
