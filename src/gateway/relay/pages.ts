import type { JsonObject } from '../../protocol/index.js'
import { invalidParams } from './params.js'

/** One item of a listing as the client sees it. */
export interface ListedItem {
  /** Unique in the listing and stable: where a next page begins is told by it. */
  readonly name: string
  readonly wire: JsonObject
  /** Length as JSON. */
  readonly size: number
}

export interface Page {
  readonly items: readonly ListedItem[]
  readonly nextCursor?: string
}

/**
 * Some clients read the first page only, so it holds as much as the strictest of those that read more will take: about
 * 10 MB in one message.
 */
const PAGE_ITEMS = 2000
const PAGE_SIZE = 4 * 1024 * 1024

/**
 * The page of a listing that a cursor names; the first without one. A cursor says behind which item its page begins, so
 * that it holds when other items come and go, in another session, and after a restart. When that very item is gone, the
 * page begins at the item's former place.
 *
 * @throws RpcError -32602 for a cursor that this side did not make.
 */
export function pageAt(items: readonly ListedItem[], cursor: string | undefined): Page {
  const start = cursor === undefined ? 0 : startOf(items, cursor)
  let end = start
  for (let size = 0; end < items.length && end - start < PAGE_ITEMS; end += 1) {
    size += items[end]?.size ?? 0
    // One item that is too large alone still makes a page, or the listing would never end.
    if (size > PAGE_SIZE && end > start) break
  }
  const last = items[end - 1]
  if (last === undefined || end >= items.length) return { items: items.slice(start, end) }
  return { items: items.slice(start, end), nextCursor: encodeCursor(last.name, end) }
}

function startOf(items: readonly ListedItem[], cursor: string): number {
  const { after, index } = decodeCursor(cursor)
  if (items[index - 1]?.name === after) return index
  const found = items.findIndex((item) => item.name === after)
  return found === -1 ? Math.min(index, items.length) : found + 1
}

function encodeCursor(after: string, index: number): string {
  return Buffer.from(JSON.stringify([after, index])).toString('base64url')
}

function decodeCursor(cursor: string): { after: string; index: number } {
  try {
    const [after, index] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[]
    if (typeof after === 'string' && Number.isSafeInteger(index) && Number(index) >= 0) {
      return { after, index: Number(index) }
    }
  } catch {
    // Falls through to the one answer for all cursors of others.
  }
  throw invalidParams('Invalid cursor')
}
