const FIRST_PARTY = /^https:\/\/(?:chatgpt\.com|chat\.openai\.com)/
const BACKEND = '/backend-api'
const CODEX_API = '/api/codex'

/** A base of the backend's own clients: without a slash at its end, and with the path that they have (reference: auth, 5.1). */
export function backendBase(baseUrl: string): string {
  const base = withoutSlashes(baseUrl)
  return FIRST_PARTY.test(base) && !base.includes(BACKEND) ? base + BACKEND : base
}

/** Where the hosted apps of a backend are (reference: auth, 5.1). */
export function hostedAppsUrl(baseUrl: string): string {
  const base = backendBase(baseUrl)
  const api = base.includes(BACKEND) || base.includes(CODEX_API) ? base : base + CODEX_API
  return `${api}/ps/mcp`
}

/** Without a regular expression: these are quadratic in slashes that are not at the end. */
function withoutSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end -= 1
  return text.slice(0, end)
}
