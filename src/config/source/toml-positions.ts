import { lineIndex, type Path, type Position } from './raw.js'
import { scanToml } from './toml-scan.js'

/** Where a key is written, and the keys below it. */
export interface KeyPositions {
  readonly position: Position | undefined
  readonly below: ReadonlyMap<string, KeyPositions>
}

/** Finds every key of a TOML text that has been parsed before. */
export function tomlKeyPositions(text: string): KeyPositions {
  const positionAt = lineIndex(text)
  const root = newNode()
  scanToml<KeyNode>(text, root, {
    table(path, ofArray, start) {
      const node = mark(root, path, positionAt(start))
      return ofArray ? addItem(node, node.items, positionAt(start)) : node
    },
    key: (within, path, start) => mark(within, path, positionAt(start)),
    item: (within, index, start) => addItem(within, index, positionAt(start)),
  })
  return root
}

/** The position of the deepest key on `path` that is written anywhere. */
export function findInKeys(root: KeyPositions, path: Path): Position | undefined {
  let node = root
  let position: Position | undefined
  for (const part of path) {
    const next = node.below.get(part)
    if (next === undefined) break
    node = next
    position = next.position ?? position
  }
  return position
}

interface KeyNode {
  position: Position | undefined
  /** Set by the first mention on the way to another key; a key's own line replaces it. */
  implied: boolean
  readonly below: Map<string, KeyNode>
  /** Items of an array of tables so far. */
  items: number
}

function newNode(position?: Position): KeyNode {
  return { position, implied: false, below: new Map(), items: 0 }
}

function addItem(array: KeyNode, index: number, position: Position): KeyNode {
  const item = newNode(position)
  array.below.set(String(index), item)
  array.items += 1
  return item
}

/** Walks to a key, noting the first mention of what lies on the way. Goes into the newest item of an array of tables. */
function mark(from: KeyNode, path: Path, position: Position): KeyNode {
  let node = from
  path.forEach((part, index) => {
    if (index > 0 && node.items > 0) node = node.below.get(String(node.items - 1)) ?? node
    let next = node.below.get(part)
    if (next === undefined) {
      next = newNode()
      node.below.set(part, next)
    }
    const own = index === path.length - 1
    if (next.position === undefined || (own && next.implied)) {
      next.position = position
      next.implied = !own
    }
    node = next
  })
  return node
}
