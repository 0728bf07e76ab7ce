import { fault, flag, map, type Notes, oneOf, type Shape, table } from './schema/shape.js'
import type { ApprovalMode } from './server.js'
import { pathText } from './source/raw.js'

/** What is managed about approvals, by one requirements file. It only tightens (reference: authority, 1). */
export interface ManagedApprovals {
  /** Every call is judged by the automatic reviewer; without one it is refused. */
  readonly strictReview: boolean
  /** Of every tool that the rest says nothing of. */
  readonly defaultMode?: ApprovalMode
  /** By the server's own name, wherever it runs and whoever brought it. */
  readonly servers: ReadonlyMap<string, ManagedServerApprovals>
}

export interface ManagedServerApprovals {
  readonly defaultMode?: ApprovalMode
  /** By raw name. */
  readonly tools: ReadonlyMap<string, ApprovalMode>
}

/** What stands in for rules that can't be read: every call is asked for. */
export const BROKEN_APPROVALS: ManagedApprovals = Object.freeze({
  strictReview: false,
  defaultMode: 'prompt',
  servers: new Map(),
})

/** A demand that is misspelt would be none, so what is unknown is a fault here. */
const STRICT: Notes = {
  unknown(path, known) {
    throw fault('unknown_member', `unknown field \`${pathText(path)}\`, expected one of ${known.join(', ')}`, path)
  },
}

const mode = oneOf('auto', 'prompt', 'writes', 'approve')

const members = table({
  strict_review: flag,
  default_tools_approval_mode: mode,
  mcp_servers: map(table({ default_tools_approval_mode: mode, tools: map(table({ approval_mode: mode })) })),
})

/** Reads `[approvals]` of a requirements file. */
export const managedApprovals: Shape<ManagedApprovals> = {
  schema: members.schema,
  read(value, path) {
    const {
      strict_review: strictReview = false,
      mcp_servers: servers = {},
      ...rest
    } = members.read(value, path, STRICT)
    return Object.freeze({
      strictReview,
      ...withDefault(rest.default_tools_approval_mode),
      servers: new Map(
        Object.entries(servers).map(([name, { default_tools_approval_mode: own, tools = {} }]) => [
          name,
          { ...withDefault(own), tools: new Map(Object.entries(tools).flatMap(modeOfTool)) },
        ]),
      ),
    })
  },
}

function withDefault(defaultMode: ApprovalMode | undefined): { readonly defaultMode?: ApprovalMode } {
  return defaultMode === undefined ? {} : { defaultMode }
}

function modeOfTool([tool, { approval_mode: own }]: [string, { readonly approval_mode?: ApprovalMode }]): [
  string,
  ApprovalMode,
][] {
  return own === undefined ? [] : [[tool, own]]
}
