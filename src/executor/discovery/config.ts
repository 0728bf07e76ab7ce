import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse, stringify, TomlError } from 'smol-toml'
import type { Variables } from '../processes/env-policy.js'
import { internal, invalidParams } from '../wire/fault.js'
import { isObject, type Members, own } from '../wire/frame.js'
import type { Params } from '../wire/params.js'
import { type Homes, userHome } from './homes.js'

/** Of one file, in bytes. */
const MOST_CONFIG = 16 * 1024 * 1024

/**
 * `environmentConfig/read`: the asked for parts of this machine's own configuration (reference: executor-protocol, 9), the
 * weaker file first. The variables of stdio servers are left out: nobody may use those from afar, and they hold secrets.
 */
export async function readConfig(
  params: Params,
  homes: Homes,
  variables: Variables,
  managed: readonly string[] = managedFiles(variables),
): Promise<object> {
  params.path('cwd')
  const paths = params.textLists('configPaths')
  const requirements = params.textLists('requirementsPaths')
  if (paths.length + requirements.length === 0)
    throw invalidParams('at least one config or requirements path is required')
  if ([...paths, ...requirements].some((path) => path.length === 0))
    throw invalidParams('TOML paths must contain at least one key segment')
  const all = await homes()
  const layers = await Promise.all(
    all.map((home) => layerOf(join(home, 'config.toml'), paths, (file) => `user (${file})`)),
  )
  const demands = await Promise.all(managed.map((file) => layerOf(file, requirements, () => file)))
  return {
    userHomeDir: pathToFileURL(userHome(variables)).href,
    codexHomeDir: pathToFileURL(all[0]).href,
    hostname: hostname(),
    config: layersOf(layers, 0),
    requirements: layersOf(demands, demands.filter(isThere).length),
  }
}

interface Layer {
  readonly source: string
  readonly baseDir: string
  readonly toml: string
}

/** The index says where layers of a cloud would come in: before configuration, behind requirements (seen). */
function layersOf(layers: readonly (Layer | undefined)[], cloudInsertionIndex: number): object {
  return { layers: layers.filter(isThere), cloudInsertionIndex }
}

function isThere(layer: Layer | undefined): layer is Layer {
  return layer !== undefined
}

/** Undefined where nothing that was asked for stands. */
async function layerOf(
  file: string,
  paths: readonly (readonly string[])[],
  sourceOf: (file: string) => string,
): Promise<Layer | undefined> {
  if (paths.length === 0) return undefined
  const text = await textOf(file)
  if (text === undefined) return undefined
  const parts = partsOf(parsed(file, text), paths)
  const servers = own(parts, 'mcp_servers')
  if (isObject(servers)) for (const server of Object.values(servers)) forgetVariables(server)
  if (Object.keys(parts).length === 0) return undefined
  return { source: sourceOf(file), baseDir: pathToFileURL(dirname(file)).href, toml: stringify(parts) }
}

/** Where the administrator of this machine says what servers there may be. */
function managedFiles({ ProgramData = 'C:\\ProgramData' }: Variables): readonly string[] {
  if (process.platform === 'win32') return [join(ProgramData, 'reeve', 'requirements.toml')]
  return ['/etc/codex/requirements.toml', '/etc/reeve/requirements.toml']
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    const facts = await stat(file)
    if (!facts.isFile()) throw broken(file, 'is no file')
    if (facts.size > MOST_CONFIG) throw broken(file, `is larger than ${MOST_CONFIG} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (error instanceof TypeError) throw broken(file, 'is not valid UTF-8')
    throw typeof code === 'string' && /^E[A-Z]+$/.test(code) ? broken(file, `cannot be read (${code})`) : error
  }
}

function parsed(file: string, text: string): Members {
  try {
    return parse(text, { integersAsBigInt: true })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // Its further lines quote the file, which may hold secrets.
    const reason = error.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '') ?? 'syntax error'
    throw broken(`${file}:${error.line}:${error.column}`, reason)
  }
}

function broken(place: string, reason: string) {
  return internal(`failed to load executor-local config: ${place}: ${reason}`)
}

/** The tables on the way to a part are there also where the part itself is not (seen). */
function partsOf(root: Members, paths: readonly (readonly string[])[]): Record<string, unknown> {
  const parts: Record<string, unknown> = Object.create(null)
  for (const path of paths) copyPart(root, parts, path)
  return parts
}

function copyPart(from: Members, to: Record<string, unknown>, [name = '', ...rest]: readonly string[]): void {
  const value = own(from, name)
  if (value === undefined) return
  if (rest.length === 0) to[name] = value
  else if (isObject(value)) {
    const table: Record<string, unknown> = Object.create(null)
    const before = own(to, name)
    if (isObject(before)) Object.assign(table, before)
    to[name] = table
    copyPart(value, table, rest)
  }
}

/** Only stdio servers have any. */
function forgetVariables(server: unknown): void {
  if (isObject(server)) Reflect.deleteProperty(server, 'env')
}
