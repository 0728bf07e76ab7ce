/** A Bearer challenge that asks for more scopes. `scope` is absent when the server's was unusable. */
export interface ScopeChallenge {
  readonly scope?: string
}

/**
 * The first Bearer challenge with `error="insufficient_scope"` in any `WWW-Authenticate` field, also behind challenges
 * of other schemes. Source: reference, connections 10.6.
 */
export function insufficientScope(fields: readonly string[]): ScopeChallenge | undefined {
  for (const field of fields) {
    for (const challenge of readChallenges(field)) {
      if (challenge.scheme !== 'bearer' || challenge.values.get('error') !== 'insufficient_scope') continue
      const scope = challenge.values.get('scope')
      return typeof scope === 'string' && isScope(scope) ? { scope } : {}
    }
  }
  return undefined
}

interface Challenge {
  /** Lower case. */
  readonly scheme: string
  /** By lower-case name; `null` for a value that is malformed or was given twice. */
  readonly values: Map<string, string | null>
}

function readChallenges(field: string): Challenge[] {
  const challenges: Challenge[] = []
  // Parameters behind something that is no scheme belong to no challenge.
  let current: Challenge | undefined
  for (const segment of splitOutsideQuotes(field) ?? []) {
    const parameter = PARAMETER.exec(segment)
    if (parameter !== null) {
      addParameter(current, parameter)
      continue
    }
    const [, scheme, rest = ''] = SCHEME.exec(segment) ?? []
    current = scheme === undefined ? undefined : { scheme: scheme.toLowerCase(), values: new Map() }
    if (current === undefined) continue
    challenges.push(current)
    const first = PARAMETER.exec(rest)
    if (first !== null) addParameter(current, first)
  }
  return challenges
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const PARAMETER = new RegExp(`^(${TOKEN})[ \\t]*=[ \\t]*(.*)$`, 's')
const SCHEME = new RegExp(`^(${TOKEN})(?:[ \\t]+(.*))?$`, 's')
const WHOLE_TOKEN = new RegExp(`^${TOKEN}$`)
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s

function addParameter(challenge: Challenge | undefined, [, name = '', raw = '']: RegExpExecArray): void {
  if (challenge === undefined) return
  const key = name.toLowerCase()
  challenge.values.set(key, challenge.values.has(key) ? null : readValue(raw))
}

function readValue(raw: string): string | null {
  if (WHOLE_TOKEN.test(raw)) return raw
  const quoted = QUOTED.exec(raw)
  return quoted === null ? null : (quoted[1] ?? '').replace(/\\(.)/gs, '$1')
}

/** The segments between `,` and `;`, trimmed, without the empty ones. Undefined when a quote is left open. */
function splitOutsideQuotes(field: string): string[] | undefined {
  const segments: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < field.length; at += 1) {
    const character = field[at]
    if (quoted) {
      if (character === '\\') at += 1
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === ',' || character === ';') {
      segments.push(field.slice(start, at))
      start = at + 1
    }
  }
  if (quoted) return undefined
  segments.push(field.slice(start))
  return segments.map((segment) => segment.trim()).filter((segment) => segment !== '')
}

function isScope(scope: string): boolean {
  return scope.split(' ').every((token) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(token))
}
