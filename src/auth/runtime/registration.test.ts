import { expect, it } from 'vitest'
import { systemClock } from '../clock.js'
import type { AuthRequest } from '../http/auth-http.js'
import { sessionOf } from '../sources/stored-auth.js'
import { PRODUCTION_BASE } from './backend.js'
import { firstPartyIssuer } from './issuer.js'
import { Registration } from './registration.js'

it('sends nothing for a credential that was given up while the installation id was read', async () => {
  const sent: AuthRequest[] = []
  let isHeld = true
  let tell: (id: string) => void = () => undefined
  const installation = new Promise<string>((resolve) => {
    tell = resolve
  })
  const registration = new Registration(
    {
      issuer: firstPartyIssuer(),
      places: { baseUrl: PRODUCTION_BASE },
      http: {
        send: async (request) => {
          sent.push(request)
          throw new Error('nobody is there')
        },
      },
      clock: systemClock,
      installationId: () => installation,
      isHeld: () => isHeld,
    },
    sessionOf({ accessToken: 'a', accountId: 'acct-1' }),
  )
  const obtained = registration.obtain()
  isHeld = false
  tell('00000000-0000-4000-8000-000000000000')
  await expect(obtained).rejects.toMatchObject({ code: 'credentials_changed_not_sent' })
  expect(sent).toEqual([])
  isHeld = true
  await expect(registration.obtain()).rejects.toMatchObject({ code: 'registration_failed' })
  expect(sent).toHaveLength(1)
})
