/** What is told of a call that is not carried out (reference: tool-calls, 8); exact, since hosts show and match it. */
export const REFUSED = Object.freeze({
  rejected: 'user rejected MCP tool call',
  cancelled: 'user cancelled MCP tool call',
  never: 'MCP tool call requires approval, but approval policy is never',
  noReviewer: 'MCP tool call requires an automatic review, and there is no reviewer',
  nobody: 'MCP tool call requires approval, and nobody here can be asked',
  unanswered: 'MCP tool call requires approval, and nobody answered in time',
})
