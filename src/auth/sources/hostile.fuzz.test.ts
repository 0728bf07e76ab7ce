import fc from 'fast-check'
import { expect, it } from 'vitest'
import { json } from '../../../test/standins/backend-model.js'
import { AuthWorld } from '../../../test/standins/backend-world.js'
import { ReeveError } from '../../errors.js'
import { readRegistration } from '../runtime/registration-reply.js'
import { readClaims } from './claims.js'
import { credentialFrom, storedFrom } from './stored-auth.js'

const ODD_KEYS = ['tokens', 'auth_mode', 'access_token', 'agent_identity', '__proto__', 'constructor', 'actor', 'kind']
const odd = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom(...ODD_KEYS)), fc.jsonValue())

it('reads any token without a fault, and believes only what has the right type', () => {
  const payload = fc.oneof(fc.jsonValue(), odd).map((value) => JSON.stringify(value))
  const token = fc.oneof(
    fc.string(),
    payload.map((text) => `x.${Buffer.from(text).toString('base64url')}.y`),
    odd.map(
      (claims) => `x.${Buffer.from(JSON.stringify({ 'https://api.openai.com/auth': claims })).toString('base64url')}.y`,
    ),
  )
  fc.assert(
    fc.property(token, (value) => {
      const { expiresAt, accountId, userId } = readClaims(value)
      expect(expiresAt === undefined || Number.isFinite(expiresAt)).toBe(true)
      for (const id of [accountId, userId]) expect(id === undefined || (typeof id === 'string' && id !== '')).toBe(true)
    }),
  )
})

it('takes any stored record for a credential, for none, or for a typed fault that quotes nothing', () => {
  fc.assert(
    fc.property(odd, fc.uuid(), (record, secret) => {
      const stored = { ...record, note: secret }
      try {
        const credential = credentialFrom(stored, 'auth.json')
        if (credential !== null) expect(storedFrom(credential, stored)).toMatchObject({ note: secret })
      } catch (error) {
        expect(error).toBeInstanceOf(ReeveError)
        expect(JSON.stringify(error)).not.toContain(secret)
      }
    }),
  )
})

it('takes any registration answer for one, or for an invalid one', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        odd.map((value) => JSON.stringify(value)),
      ),
      (body) => {
        expect(() => readRegistration(body)).toThrow('invalid runtime registration response')
      },
    ),
  )
})

it('survives any answer of the token endpoint', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 200, max: 599 }), fc.oneof(fc.jsonValue(), odd), async (status, body) => {
      const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
      world.model.tokenReplies = [json(status, body)]
      const before = world.signedIn()
      const outcome = await world.manager.refresh().catch((error: unknown) => error)
      if (outcome === 'changed' || outcome === 'unchanged') expect(status).toBe(200)
      else expect(outcome).toMatchObject({ code: 'refresh_failed' })
      expect(world.signedIn().identity).toEqual(before.identity)
    }),
  )
})
