/** What a browser page of an allowed origin may send and read. The origin was checked before. */
export function corsHeaders(origin: string): Map<string, string> {
  return new Map([
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate'],
    ['vary', 'Origin'],
  ])
}

export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID',
  'access-control-max-age': '600',
} as const
