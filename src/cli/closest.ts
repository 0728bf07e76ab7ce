/**
 * The candidate that `name` was probably meant to be: fewest edits (a swap of neighbours counts as one), at most a
 * third of the longer text, case ignored. The first one among equals.
 */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestEdits = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const allowed = Math.max(1, Math.floor(Math.max(name.length, candidate.length) / 3))
    if (candidate.length > LONGEST || Math.abs(candidate.length - name.length) > allowed) continue
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase())
    if (edits <= allowed && edits < bestEdits) [best, bestEdits] = [candidate, edits]
  }
  return best
}

/** `. Did you mean 'x'?`, or nothing. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const found = closest(name, candidates)
  return found === undefined ? '' : `. Did you mean '${found}'?`
}

/** Above this the time grows with the square, and nobody mistypes so much text. */
const LONGEST = 200

function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1)
      row.push(edits)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}
