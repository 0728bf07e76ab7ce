/** Where the browser goes once the user of an authorization server has said yes (RFC 6749, RFC 9207). */
export function codeRedirect(
  params: URLSearchParams,
  answer: { readonly code: string; readonly issuer: string },
): { status: 302; body: ''; headers: { location: string } } {
  const back = new URL(params.get('redirect_uri') ?? '')
  back.searchParams.set('code', answer.code)
  back.searchParams.set('iss', answer.issuer)
  const state = params.get('state')
  if (state !== null) back.searchParams.set('state', state)
  return { status: 302, body: '', headers: { location: back.href } }
}
