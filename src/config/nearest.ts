/** Longer words are no typing slips, and the distance is quadratic. */
const LONGEST_WORD = 80

/** A word that was not finished is close to what it begins. */
const SHORTEST_BEGINNING = 3

/**
 * The candidate that a mistyped word most likely means, or undefined when none is close. Case, `-` and `_` don't count,
 * so `startupTimeoutSec` finds `startup_timeout_sec`. Ties go to the earlier candidate.
 *
 * @example
 * ```ts
 * nearest('comand', ['command', 'args'])  // 'command'
 * ```
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined
  const plain = plainForm(word)
  let best: string | undefined
  let bestDistance = allowedSlips(plain) + 1
  for (const candidate of candidates) {
    if (candidate.length > LONGEST_WORD || candidate === word) continue
    const form = plainForm(candidate)
    const distance = plain.length >= SHORTEST_BEGINNING && form.startsWith(plain) ? 1 : editDistance(plain, form)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function allowedSlips(word: string): number {
  return word.length <= 3 ? 1 : Math.floor(word.length / 3)
}

function plainForm(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '')
}

/** Damerau-Levenshtein with adjacent transpositions (optimal string alignment), three rows at a time. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1))
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0
}
