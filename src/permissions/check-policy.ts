import { InvalidArgumentsError } from '../errors.js'
import { isRecord } from './members.js'
import type { ApprovalPolicy, GranularPolicy } from './types.js'

const POLICIES: readonly unknown[] = ['untrusted', 'on-request', 'never'] satisfies ApprovalPolicy[]
const GRANULAR = [
  'sandbox_approval',
  'rules',
  'skill_approval',
  'request_permissions',
  'mcp_elicitations',
] as const satisfies (keyof GranularPolicy)[]

/**
 * Looks at an approval policy that a program hands over, which may come from a file of its own: a misspelt one would be taken for
 * another.
 *
 * @throws InvalidArgumentsError with the place
 */
export function checkPolicy(policy: unknown, place: string): void {
  if (policy === undefined || policy === null || POLICIES.includes(policy)) return
  const granular = isRecord(policy) && Object.hasOwn(policy, 'granular') ? policy.granular : undefined
  if (!isRecord(granular))
    throw new InvalidArgumentsError(`${place} must be untrusted, on-request, never or {granular: {…}}`, { place })
  const wrong = GRANULAR.find((name) => Object.hasOwn(granular, name) && typeof granular[name] !== 'boolean')
  if (wrong !== undefined)
    throw new InvalidArgumentsError(`${place}.granular.${wrong} must be true or false`, {
      place: `${place}.granular.${wrong}`,
    })
}
