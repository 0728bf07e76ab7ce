/** What a browser page of an allowed origin may send and read. The origin was checked before. */
export function corsHeaders(origin: string): Map<string, string> {
  return new Map([
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate'],
    ['vary', 'Origin'],
  ])
}

const ALLOWED = [
  'Authorization',
  'Content-Type',
  'Accept',
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Last-Event-ID',
]

/** Parameters that a tool marks are mirrored in headers of the tool's choice. */
const PARAMETER = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/i

/** @param requested `Access-Control-Request-Headers` */
export function preflightHeaders(requested: string | undefined): Record<string, string> {
  const parameters = (requested ?? '').split(',').map((name) => name.trim())
  return {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': [...ALLOWED, ...parameters.filter((name) => PARAMETER.test(name))].join(', '),
    'access-control-max-age': '600',
  }
}
