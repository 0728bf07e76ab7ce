/**
 * The version of a plugin that counts: `local`, else the highest. Two versions of the SemVer form are compared by its
 * rules, any others by their letters (seen).
 */
export function currentVersion(names: readonly string[]): string | undefined {
  if (names.includes('local')) return 'local'
  return [...names].sort().reduce<string | undefined>((best, name) => {
    return best === undefined || compare(name, best) >= 0 ? name : best
  }, undefined)
}

interface Version {
  readonly numbers: readonly bigint[]
  readonly pre: readonly string[]
}

function compare(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  if (left === undefined || right === undefined) return a < b ? -1 : a > b ? 1 : 0
  for (const [index, number] of left.numbers.entries()) {
    const other = right.numbers[index] ?? 0n
    if (number !== other) return number < other ? -1 : 1
  }
  return comparePre(left.pre, right.pre)
}

/** A version before the release is lower than the release. */
function comparePre(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length
  for (const [index, part] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    if (part === other) continue
    const [isNumber, otherIsNumber] = [/^\d+$/.test(part), /^\d+$/.test(other)]
    if (isNumber && otherIsNumber) return BigInt(part) < BigInt(other) ? -1 : 1
    if (isNumber !== otherIsNumber) return isNumber ? -1 : 1
    return part < other ? -1 : 1
  }
  return left.length - right.length
}

function parse(name: string): Version | undefined {
  const found = /^(\d{1,20})\.(\d{1,20})\.(\d{1,20})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?$/.exec(name)
  if (found === null) return undefined
  const [, major = '', minor = '', patch = '', pre] = found
  return { numbers: [major, minor, patch].map(BigInt), pre: pre === undefined ? [] : pre.split('.') }
}
