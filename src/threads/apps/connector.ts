import type { Connector } from '../../authority/index.js'
import { HOSTED_APPS_NAME, type NamingInput } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'

/** The app that a tool of the hosted apps says it is of: each member trimmed, a blank one absent (reference: auth, 5.2). */
export interface ToolConnector {
  readonly id?: string
  readonly name?: string
  readonly description?: string
  /** The account connection that the tool uses. */
  readonly linkId?: string
}

/** Only for tools of the host's own server: what another server writes there says nothing. */
export function connectorOf({ _meta: meta }: JsonObject): ToolConnector {
  const own = textIn(meta, 'connector_id')
  const name = textIn(meta, 'connector_name') ?? textIn(meta, 'connector_display_name')
  const description = textIn(meta, 'connector_description') ?? textIn(meta, 'connectorDescription')
  const linkId = textIn(member(meta, '_codex_apps'), 'link_id') ?? textIn(meta, 'link_id')
  return Object.freeze({
    ...(own !== undefined && { id: own }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(linkId !== undefined && { linkId }),
  })
}

/** As approvals know it; undefined for a tool that says no id. */
export function approvalConnector(definition: JsonObject): Connector | undefined {
  const { id, ...connector } = connectorOf(definition)
  return id === undefined ? undefined : { id, ...connector }
}

/** What of a tool's names is the connector's (reference: identity-and-names, 7). */
export function connectorNames(
  definition: JsonObject,
  tool: string,
): Pick<NamingInput, 'connectorId' | 'rawNamespace' | 'callableName'> {
  const { id, name } = connectorOf(definition)
  return {
    ...(id !== undefined && { connectorId: id }),
    rawNamespace: name === undefined ? HOSTED_APPS_NAME : `${HOSTED_APPS_NAME}__${sanitised(name)}`,
    callableName: callableName(tool, [name, id]),
  }
}

/** As a namespace of its tools is described; undefined for tools of none. */
export function namedConnector(
  definition: JsonObject,
): { readonly name: string; readonly description?: string } | undefined {
  const { id, name = id, description } = connectorOf(definition)
  if (name === undefined) return undefined
  return { name, ...(description !== undefined && { description }) }
}

/** The definition with the title that it has beside its connector's name. */
export function titledTool(definition: JsonObject): JsonObject {
  const { name } = connectorOf(definition)
  const { title } = definition
  if (name === undefined || typeof title !== 'string' || !title.startsWith(`${name}_`)) return definition
  return Object.freeze({ ...definition, title: title.slice(name.length + 1) })
}

/** Nobody but the host's own server says of which app a tool is (reference: identity-and-names, 7). */
export function withoutConnector(definition: JsonObject): JsonObject {
  const { _meta: meta } = definition
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return definition
  if (!CONNECTOR_MEMBERS.some((name) => Object.hasOwn(meta, name))) return definition
  const own = Object.entries(meta).filter(([name]) => !CONNECTOR_MEMBERS.includes(name))
  return Object.freeze({ ...definition, _meta: Object.freeze(Object.fromEntries(own)) })
}

const CONNECTOR_MEMBERS: readonly string[] = [
  'connector_id',
  'connector_name',
  'connector_display_name',
  'connector_description',
  'connectorDescription',
]

/** The first that is a prefix goes, where something remains; what separates it stays. */
function callableName(tool: string, prefixes: readonly (string | undefined)[]): string {
  const name = lowered(tool)
  for (const prefix of prefixes) {
    if (prefix === undefined) continue
    const own = sanitised(prefix)
    if (name.startsWith(own) && name.length > own.length) return name.slice(own.length)
  }
  return name === '' ? 'app' : name
}

function sanitised(text: string): string {
  const name = lowered(text)
  return name === '' ? 'app' : name
}

/** Lower-case ASCII letters and digits, `_` for everything else but at the ends. */
function lowered(text: string): string {
  const name = text.replace(/[^A-Za-z0-9]/gu, '_').toLowerCase()
  let [start, end] = [0, name.length]
  while (name[start] === '_') start += 1
  while (end > start && name[end - 1] === '_') end -= 1
  return name.slice(start, end)
}

function textIn(of: JsonValue | undefined, name: string): string | undefined {
  const value = member(of, name)
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}

export function member(of: JsonValue | undefined, name: string): JsonValue | undefined {
  const isObject = typeof of === 'object' && of !== null && !Array.isArray(of)
  return isObject && Object.hasOwn(of, name) ? of[name] : undefined
}
