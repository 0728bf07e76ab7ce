/** `WWW-Authenticate` of a protected resource (RFC 6750, 3; RFC 9728, 5.1). */
export interface BearerChallenge {
  readonly metadataUrl: string
  readonly scopes?: readonly string[]
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope'
  /** Of ours alone: what clients send is never repeated. */
  readonly description?: string
}

export function challengeHeader({ metadataUrl, scopes, error, description }: BearerChallenge): string {
  const parameters = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(description === undefined ? [] : [`error_description="${quotable(description)}"`]),
    ...(scopes === undefined || scopes.length === 0 ? [] : [`scope="${quotable(scopes.join(' '))}"`]),
    `resource_metadata="${quotable(metadataUrl)}"`,
  ]
  return `Bearer ${parameters.join(', ')}`
}

/** What a quoted string may hold without being quoted any further. */
function quotable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '')
}
