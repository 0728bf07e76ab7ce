import { OAuthError, type OAuthFault } from '../../errors.js'
import { isFields, textOf } from './fields.js'
import { type OAuthAnswer, placeOf } from './http.js'

/** An OAuth error answer (RFC 6749, 5.2). */
export interface ErrorFields {
  readonly error?: string
  readonly description?: string
}

const SHOWN = 300

export function errorFields(json: unknown): ErrorFields {
  if (!isFields(json)) return {}
  const error = textOf(json, 'error')
  const description = textOf(json, 'error_description')
  return {
    ...(error && { error: shown(error) }),
    ...(description && { description: shown(description) }),
  }
}

/**
 * What an endpoint said instead of what was asked for. Of a body that is no OAuth error only the status is told: it may be
 * anything, and hold anything. `secrets` are what was sent, in case the answer repeats it.
 */
export function refusal(
  code: OAuthFault,
  what: string,
  url: string,
  answer: OAuthAnswer,
  facts: { readonly permanent?: boolean; readonly secrets?: readonly string[] } = {},
): OAuthError {
  const { error, description } = errorFields(answer.json)
  const place = placeOf(url)
  const why = error === undefined ? '' : `: ${error}${description === undefined ? '' : ` (${description})`}`
  const text = without(`${place} ${what}, HTTP ${answer.status}${why}`, facts.secrets ?? [])
  return new OAuthError(code, text, {
    place,
    data: {
      status: answer.status,
      ...(error !== undefined && { error: without(error, facts.secrets ?? []) }),
      ...(facts.permanent !== undefined && { permanent: facts.permanent }),
    },
  })
}

export function shown(text: string): string {
  const plain = [...text].map((character) => (character < ' ' || character === '\u007f' ? ' ' : character)).join('')
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain
}

function without(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret.length > 3).reduce((left, secret) => left.replaceAll(secret, '***'), text)
}
