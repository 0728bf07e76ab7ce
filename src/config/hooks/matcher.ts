/** Characters of a matcher that is a regular expression. */
export const LONGEST_MATCHER = 1000

/** Only names split by `|`: nothing in it is taken for a pattern (reference: authority, 7.1). */
export function isExactMatcher(matcher: string): boolean {
  return /^[A-Za-z0-9_|]+$/.test(matcher)
}

/** Nothing, or `*`. */
export function matchesAll(matcher: string | undefined): boolean {
  return matcher === undefined || matcher === '' || matcher === '*'
}

/** What is wrong with a matcher that names no tools and is no regular expression. */
export function matcherFault(matcher: string): string | undefined {
  if (matchesAll(matcher) || isExactMatcher(matcher)) return undefined
  if (matcher.length > LONGEST_MATCHER) return `is longer than ${LONGEST_MATCHER} characters`
  try {
    new RegExp(matcher, 'u')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
