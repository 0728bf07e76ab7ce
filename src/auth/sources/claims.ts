/** What a token says of itself. Nothing is verified here: the authority does that; we only choose by it. */
export interface TokenClaims {
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  readonly accountId?: string
  readonly userId?: string
  readonly isWorkspace?: boolean
  readonly isFedramp?: boolean
}

const ACCOUNT_CLAIM = 'https://api.openai.com/auth'
const PERSONAL_PLANS: ReadonlySet<string> = new Set(['free', 'go', 'plus', 'pro', 'guest', 'unknown'])

/** The claims of a JWT; none of what is no JWT, or no JSON inside. */
export function readClaims(token: string): TokenClaims {
  const payload = payloadOf(token)
  if (payload === undefined) return {}
  const account = asRecord(payload[ACCOUNT_CLAIM]) ?? {}
  const exp = payload.exp
  const accountId = text(account.chatgpt_account_id)
  const userId = text(account.chatgpt_user_id) ?? text(account.user_id)
  const plan = text(account.chatgpt_plan_type)
  return {
    ...(typeof exp === 'number' && Number.isFinite(exp) && { expiresAt: exp * 1000 }),
    ...(accountId !== undefined && { accountId }),
    ...(userId !== undefined && { userId }),
    ...(plan !== undefined && { isWorkspace: !PERSONAL_PLANS.has(plan.toLowerCase()) }),
    ...(account.chatgpt_account_is_fedramp === true && { isFedramp: true }),
  }
}

/** The payload of a JWT as an object; undefined for anything else. */
export function payloadOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const parts = token.split('.')
  const payload = parts[1]
  if (parts.length !== 3 || payload === undefined) return undefined
  try {
    return asRecord(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')))
  } catch {
    // Opaque tokens are as good as any.
    return undefined
  }
}

/** A plain object without prototype keys; undefined for arrays and everything else. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.assign(Object.create(null) as Record<string, unknown>, value)
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
