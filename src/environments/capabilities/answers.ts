import { ProtocolViolationError } from '../../errors.js'
import { type ExecPathStyle, pathOfFileUri } from '../../protocol/index.js'
import { listOf, memberOf, textOf } from '../executor/answers.js'
import type { FileText } from './plugin-files.js'
import type { PrefetchedFiles } from './read-client-plugin.js'

/** What `capabilityRoots/discoverV1` says of one root. */
export type RootAnswer =
  | { readonly is: 'read'; readonly files: PrefetchedFiles }
  | { readonly is: 'unreadable'; readonly message: string }

/** @throws ProtocolViolationError unless it answers exactly the roots that were asked for, in order */
export function rootAnswersOf(answer: unknown, ids: readonly string[], style: ExecPathStyle): readonly RootAnswer[] {
  const roots = listOf(answer, 'roots', DISCOVER_V1)
  const same = roots.length === ids.length && roots.every((root, index) => memberOf(root, 'id') === ids[index])
  if (!same) throw violation(DISCOVER_V1, 'answered other roots than it was asked for')
  return roots.map((root) => rootAnswerOf(root, style))
}

function rootAnswerOf(root: unknown, style: ExecPathStyle): RootAnswer {
  const error = memberOf(root, 'error')
  if (typeof error === 'string') return { is: 'unreadable', message: shortened(error) }
  const plugin = memberOf(root, 'plugin')
  if (plugin === null || plugin === undefined) return { is: 'read', files: { manifest: null } }
  return { is: 'read', files: filesOf(plugin, style, DISCOVER_V1) }
}

/** A plugin that is installed on the executor. */
export interface InstalledPlugin {
  /** `plugin@marketplace` */
  readonly id: string
  readonly displayName: string | undefined
  /** Absolute, in the executor's own form. */
  readonly root: string
  readonly files: PrefetchedFiles
}

/** What `capabilities/discoverV2` says, each id once. @throws ProtocolViolationError */
export function installedOf(answer: unknown, style: ExecPathStyle) {
  const plugins = new Map<string, InstalledPlugin>()
  const warnings = [...textsOf(answer, 'warnings', DISCOVER_V2)]
  for (const listed of listOf(answer, 'plugins', DISCOVER_V2)) {
    const id = textOf(listed, 'id', DISCOVER_V2)
    const displayName = memberOf(listed, 'displayName')
    if (plugins.has(id)) {
      warnings.push(`plugin '${shortened(id)}' is listed twice: the first one counts`)
      continue
    }
    plugins.set(id, {
      id,
      displayName: typeof displayName === 'string' && displayName.trim() !== '' ? displayName : undefined,
      root: pathOf(memberOf(listed, 'root'), style, DISCOVER_V2),
      files: filesOf(memberOf(listed, 'files'), style, DISCOVER_V2),
    })
  }
  return { plugins: [...plugins.values()].sort((a, b) => (a.id < b.id ? -1 : 1)), warnings }
}

/** What `environmentConfig/read` says. @throws ProtocolViolationError */
export function configAnswerOf(answer: unknown) {
  return { layers: layersOf(answer, 'config'), requirements: layersOf(answer, 'requirements') }
}

function layersOf(answer: unknown, name: string): readonly { readonly source: string; readonly toml: string }[] {
  return listOf(memberOf(answer, name), 'layers', CONFIG_READ).map((layer) => ({
    source: shortened(textOf(layer, 'source', CONFIG_READ)),
    toml: textOf(layer, 'toml', CONFIG_READ),
  }))
}

function filesOf(files: unknown, style: ExecPathStyle, place: string): PrefetchedFiles {
  const manifest = fileOf(memberOf(files, 'manifest'), style, place)
  const servers = fileOf(memberOf(files, 'mcpConfig'), style, place)
  if (manifest === undefined) throw violation(place, 'told of a plugin without its manifest')
  return { manifest, ...(servers && { servers }) }
}

function fileOf(file: unknown, style: ExecPathStyle, place: string): FileText | undefined {
  if (file === null || file === undefined) return undefined
  return { path: pathOf(memberOf(file, 'path'), style, place), text: textOf(file, 'contents', place) }
}

function pathOf(uri: unknown, style: ExecPathStyle, place: string): string {
  const path = pathOfFileUri(uri, style)
  if (path === undefined) throw violation(place, 'answered with something that is no path there')
  return path
}

function textsOf(value: unknown, name: string, place: string): readonly string[] {
  const texts = listOf(value, name, place).map((text) => {
    if (typeof text !== 'string') throw violation(place, `answered without texts as '${name}'`)
    return shortened(text)
  })
  return [...new Set(texts)].slice(0, MOST_WARNINGS)
}

function violation(place: string, what: string): ProtocolViolationError {
  return new ProtocolViolationError(`${place}: the executor ${what}`, { place })
}

/** Texts of an executor go into events and logs. */
function shortened(text: string): string {
  return text.length <= 1000 ? text : `${text.slice(0, 999)}…`
}

const MOST_WARNINGS = 100
const DISCOVER_V1 = 'capabilityRoots/discoverV1'
const DISCOVER_V2 = 'capabilities/discoverV2'
const CONFIG_READ = 'environmentConfig/read'
