/** One challenge of a `WWW-Authenticate` field. */
export interface Challenge {
  /** Lower case. */
  readonly scheme: string
  /** By lower-case name; `null` for a value that is malformed or was given twice. */
  readonly values: ReadonlyMap<string, string | null>
}

/** What a Bearer challenge says about getting a token (RFC 6750, 3; RFC 9728, 5.1). */
export interface BearerChallenge {
  readonly resourceMetadata?: string
  readonly scope?: string
  readonly error?: string
  /** The server takes tokens that are bound to a key. */
  readonly dpop?: true
}

/** All that the Bearer and DPoP challenges of these fields say; the first one wins, member by member. */
export function bearerChallenge(fields: readonly string[]): BearerChallenge {
  const known = fields.flatMap(readChallenges).filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  const first = (name: string) =>
    known.map(({ values }) => values.get(name)).find((value) => typeof value === 'string' && value !== '')
  const [resourceMetadata, scope, error] = [first('resource_metadata'), first('scope'), first('error')]
  return {
    ...(resourceMetadata && { resourceMetadata }),
    ...(scope && isScope(scope) && { scope }),
    ...(error && { error }),
    ...(known.some(({ scheme }) => scheme === 'dpop') && { dpop: true as const }),
  }
}

/** The challenges of one field, in their order, also behind parts that are none. */
export function readChallenges(field: string): readonly Challenge[] {
  const challenges: { scheme: string; values: Map<string, string | null> }[] = []
  // Parameters behind something that is no scheme belong to no challenge.
  let current: Map<string, string | null> | undefined
  for (const segment of splitOutsideQuotes(field) ?? []) {
    const parameter = PARAMETER.exec(segment)
    if (parameter !== null) {
      addParameter(current, parameter)
      continue
    }
    const [, scheme, rest = ''] = SCHEME.exec(segment) ?? []
    current = scheme === undefined ? undefined : new Map()
    if (scheme === undefined || current === undefined) continue
    challenges.push({ scheme: scheme.toLowerCase(), values: current })
    const first = PARAMETER.exec(rest)
    if (first !== null) addParameter(current, first)
  }
  return challenges
}

/** RFC 6749, 3.3. */
export function isScope(scope: string): boolean {
  return scope.split(' ').every((token) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(token))
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const PARAMETER = new RegExp(`^(${TOKEN})[ \\t]*=[ \\t]*(.*)$`, 's')
const SCHEME = new RegExp(`^(${TOKEN})(?:[ \\t]+(.*))?$`, 's')
const WHOLE_TOKEN = new RegExp(`^${TOKEN}$`)
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s

function addParameter(values: Map<string, string | null> | undefined, [, name = '', raw = '']: RegExpExecArray): void {
  if (values === undefined) return
  const key = name.toLowerCase()
  values.set(key, values.has(key) ? null : readValue(raw))
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
