/** Endings of the types that servers send; anything else is `.bin`. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'image/bmp': 'bmp',
  'image/avif': 'avif',
  'image/tiff': 'tiff',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
  'audio/mp4': 'm4a',
  'audio/webm': 'weba',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/json': 'json',
  'application/xml': 'xml',
  'text/plain': 'txt',
  'text/html': 'html',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/markdown': 'md',
}

/** Windows keeps these for devices, with any ending. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * A file name for something that a server sent: the last part of its URI when there is one, else `fallback`, with an
 * ending. Never a path, never hidden, never a device, at most 100 characters: the URI is hostile text.
 */
export function mediaName(fallback: string, mimeType: string | undefined, uri?: string): string {
  const ending = endingOf(mimeType)
  const last = safe(lastPart(uri))
  if (last === '') return `${safe(fallback) || 'content'}.${ending}`
  return /\.[A-Za-z0-9]{1,8}$/.test(last) ? last : `${last}.${ending}`
}

function endingOf(mimeType: string | undefined): string {
  const type = mimeType?.split(';')[0]?.trim().toLowerCase() ?? ''
  return (Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : undefined) ?? 'bin'
}

function lastPart(uri: string | undefined): string {
  const path = uri?.replace(/[?#].*$/s, '').replace(/\/+$/, '') ?? ''
  const part = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function safe(text: string): string {
  const name = text
    .replace(/[^\p{L}\p{N}._ -]+/gu, '_')
    .replace(/^[._ ]+|[. ]+$/g, '')
    .slice(0, 100)
  return RESERVED.test(name) ? `_${name}` : name
}
