// The tool of test/fixtures/stdio/echo.mjs --only-echo, for servers that speak HTTP themselves.
export const SERVER_INFO = { name: 'echo', version: '1.0.0' }

export const ECHO_TOOL = {
  name: 'echo',
  title: 'Echo',
  description: 'Returns its message',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
}

export function echo({ message }) {
  return { content: [{ type: 'text', text: String(message) }] }
}
