import { expect, it } from 'vitest'
import { analyticsPlace } from './settings.js'

const PLACES = { baseUrl: 'https://chatgpt.com/backend-api/', trustedOrigins: ['https://own.example.test'] }
const PATH = '/codex/analytics-events/events'

it('goes nowhere unless it is switched on, and has a place', () => {
  for (const settings of [
    {},
    { enabled: false },
    { endpoint: 'https://chatgpt.com/backend-api' },
    ...['', ' ', '/', 'nowhere', 'file:///tmp', 'https://user:secret@chatgpt.com', 'https://chatgpt.com/?key=1'].map(
      (endpoint) => ({ enabled: true, endpoint }),
    ),
  ])
    expect(analyticsPlace(settings, PLACES), JSON.stringify(settings)).toBeUndefined()
})

it('counts as the backend only on its own origin, or one that the program trusts', () => {
  const placeOf = (endpoint?: string) =>
    analyticsPlace({ enabled: true, ...(endpoint !== undefined && { endpoint }) }, PLACES)
  expect(placeOf()).toEqual({ url: `https://chatgpt.com/backend-api${PATH}`, isBackend: true })
  expect(placeOf('https://chatgpt.com/other//')).toEqual({ url: `https://chatgpt.com/other${PATH}`, isBackend: true })
  expect(placeOf('https://own.example.test')).toEqual({ url: `https://own.example.test${PATH}`, isBackend: true })
  for (const endpoint of ['http://chatgpt.com', 'https://chatgpt.com:8443', 'https://chatgpt.com.example.test'])
    expect(placeOf(endpoint)).toMatchObject({ isBackend: false })
})
