import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { isObject } from '../calling/schema-type.js'
import type { Cli } from '../cli.js'
import { oneLine, printable } from '../printable.js'
import { mediaName } from './media-name.js'
import { saveNew } from './save.js'
import { byteCount } from './units.js'

export interface ContentOptions {
  /** Absolute folder for images, audio and blobs; without one they are only named. */
  readonly output?: string
  /** What unnamed media are called. */
  readonly label: string
}

/** Prints content blocks for people: text as it is, media saved or named, links shown, anything unknown as JSON. */
export async function showContent(cli: Cli, blocks: readonly JsonValue[], options: ContentOptions): Promise<void> {
  for (const block of blocks) await showBlock(cli, block, options)
}

/** Saves the media of a result whose whole JSON is printed, and names the files on stderr. */
export async function saveMedia(cli: Cli, blocks: readonly JsonValue[], options: ContentOptions): Promise<void> {
  for (const block of blocks) {
    const media = mediaOf(block)
    if (media !== undefined && options.output !== undefined) cli.err.line(await saved(cli, media, options))
  }
}

async function showBlock(cli: Cli, block: JsonValue, options: ContentOptions): Promise<void> {
  const media = mediaOf(block)
  if (media !== undefined) return cli.out.line(await saved(cli, media, options))
  const text = textOf(block)
  if (text !== undefined) return showText(cli, text)
  if (isObject(block) && block.type === 'resource_link') return showLink(cli, block)
  showJson(cli, block)
}

export function showText(cli: Cli, text: string): void {
  const shown = cli.out.terminal ? printable(text) : text
  cli.out.raw(shown.endsWith('\n') ? shown : `${shown}\n`)
}

export function showJson(cli: Cli, value: JsonValue): void {
  showText(cli, JSON.stringify(value, null, 2))
}

/** `text` blocks, embedded text resources, and the contents of `resources/read`. */
function textOf(block: JsonValue): string | undefined {
  if (!isObject(block)) return undefined
  if (block.type === 'resource') return textOf(block.resource ?? null)
  const readable = block.type === 'text' || (block.type === undefined && typeof block.uri === 'string')
  return readable && typeof block.text === 'string' ? block.text : undefined
}

interface Media {
  readonly kind: string
  readonly base64: string
  readonly mimeType: string | undefined
  readonly uri: string | undefined
}

function mediaOf(block: JsonValue): Media | undefined {
  if (!isObject(block)) return undefined
  if (block.type === 'resource') return mediaOf(block.resource ?? null)
  const base64 = block.type === undefined ? block.blob : block.data
  if (typeof base64 !== 'string') return undefined
  return {
    kind: typeof block.type === 'string' ? block.type : 'blob',
    base64,
    mimeType: typeof block.mimeType === 'string' ? block.mimeType : undefined,
    uri: typeof block.uri === 'string' ? block.uri : undefined,
  }
}

async function saved(cli: Cli, media: Media, { output, label }: ContentOptions): Promise<string> {
  const bytes = Buffer.from(media.base64, 'base64')
  const about = `${oneLine(media.mimeType ?? 'unknown type')}, ${byteCount(bytes.length)}`
  if (!isBase64(media.base64)) return cli.style.yellow(`[${oneLine(media.kind)}: its data is not base64]`)
  if (output === undefined) return cli.style.dim(`[${oneLine(media.kind)}: ${about}; save it with --output DIR]`)
  const path = await saveNew(output, mediaName(label, media.mimeType, media.uri), bytes)
  return `saved ${oneLine(path)} (${about})`
}

/** Node decodes anything; what it skipped silently would be lost. Line breaks and the URL alphabet pass. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_\-\s]*={0,2}\s*$/.test(text)
}

function showLink(cli: Cli, block: JsonObject): void {
  const words = [block.title ?? block.name, block.mimeType, block.description]
  const about = words.filter((word): word is string => typeof word === 'string' && word !== '').map(oneLine)
  cli.out.line(`${oneLine(String(block.uri ?? ''))}${about.length > 0 ? `  ${cli.style.dim(about.join(' · '))}` : ''}`)
}
