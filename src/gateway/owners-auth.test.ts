import { expect, it } from 'vitest'
import { AuthManager, systemClock } from '../auth/index.js'
import { ownersAuth } from './owners-auth.js'

it('keeps the account of a home for its owner', async () => {
  const auth = await AuthManager.open({ sources: [], clock: systemClock })
  expect(ownersAuth(auth, undefined)).toEqual({ auth })
  expect(ownersAuth(auth, 'owner')).toEqual({ auth })
  expect(ownersAuth(auth, '["https://issuer.test","owner"]')).toEqual({})
  expect(ownersAuth(undefined, 'owner')).toEqual({})
})
