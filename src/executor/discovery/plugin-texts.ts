import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject, own } from '../wire/frame.js'

/** The first that is a file is a plugin's manifest (reference: catalog, 7.1). */
const MANIFESTS = ['.codex-plugin/plugin.json', '.claude-plugin/plugin.json', '.cursor-plugin/plugin.json']

/** Of one file, in bytes; as real executors read (seen). */
const MOST_FILE = 1024 * 1024

/** A file as it goes over the wire; `path` is a `file:` URI. */
export interface TextFile {
  readonly path: string
  readonly contents: string
}

/** What stands in a plugin's folder. */
export interface PluginTexts {
  readonly manifest: TextFile
  /** Undefined where it is not JSON, or no object. */
  readonly content: Readonly<Record<string, unknown>> | undefined
  readonly mcpConfig: TextFile | null
  readonly appsConfig: TextFile | null
}

/** `plugin` is null for a folder without a manifest. What leads out of the folder, by name or by link, is warned of and left out. */
export async function pluginTexts(
  folder: string,
): Promise<{ readonly plugin: PluginTexts | null; readonly warnings: readonly string[] }> {
  const warnings: string[] = []
  const file = async (path: string) => {
    const found = await textFile(folder, path)
    if (typeof found !== 'string') return found
    warnings.push(found)
    return null
  }
  for (const place of MANIFESTS) {
    const manifest = await file(place)
    if (manifest === null) continue
    const content = objectOf(manifest.contents)
    const named = (member: string, byDefault: string | undefined) => {
      const value = content && own(content, member)
      if (typeof value !== 'string') return isObject(value) ? undefined : byDefault
      if (value.startsWith('./')) return value
      warnings.push(`ignoring ${member} in ${manifest.path}: a path must start with \`./\``)
      return undefined
    }
    const [mcp, apps] = content === undefined ? [] : [named('mcpServers', '.mcp.json'), named('apps', undefined)]
    const mcpConfig = mcp === undefined ? null : await file(mcp)
    const appsConfig = apps === undefined ? null : await file(apps)
    return { plugin: { manifest, content, mcpConfig, appsConfig }, warnings }
  }
  return { plugin: null, warnings }
}

/** Null when there is no such file; a text says why it is left out. */
export async function textFile(folder: string, path: string): Promise<TextFile | null | string> {
  const place = join(folder, path)
  const uri = pathToFileURL(place).href
  let handle: FileHandle | undefined
  try {
    // Without O_NONBLOCK a pipe without a writer would be waited for.
    handle = await open(place, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const facts = await handle.stat()
    if (!facts.isFile()) return null
    if (!(await isBelow(folder, place))) return `capability file ${uri} leads out of its folder`
    if (facts.size > MOST_FILE) return `capability file ${uri} exceeds the ${MOST_FILE}-byte limit`
    return {
      path: uri,
      contents: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await start(handle)),
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (error instanceof TypeError) return `capability file ${uri} is not UTF-8, or has no name that a file can have`
    return `capability file ${uri} cannot be read (${String(code)})`
  } finally {
    await handle?.close()
  }
}

/** The file may grow while it is read. */
async function start(handle: FileHandle): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(MOST_FILE)
  let filled = 0
  while (filled < MOST_FILE) {
    const { bytesRead } = await handle.read(bytes, filled, MOST_FILE - filled, filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/** Once every link is followed. */
export async function isBelow(folder: string, path: string): Promise<boolean> {
  const [top, place] = await Promise.all([realpath(folder), realpath(path)])
  const way = relative(top, place)
  return !(way === '..' || way.startsWith(`..${sep}`) || way.startsWith(sep) || /^[A-Za-z]:/.test(way))
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
