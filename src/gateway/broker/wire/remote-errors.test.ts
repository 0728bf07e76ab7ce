import { describe, expect, it } from 'vitest'
import {
  AmbiguousServerError,
  CancelledError,
  ReeveError,
  RpcError,
  StaleCatalogError,
  StartupFailedError,
  ToolDisabledError,
  TransportClosedError,
  UnknownServerError,
} from '../../../errors.js'
import { errorFromWire, errorToWire } from './remote-errors.js'

const KEY = { name: 'notes', environment: 'devbox' }
const over = (error: unknown): ReeveError => errorFromWire(JSON.parse(JSON.stringify(errorToWire(error))))

describe('an error that crosses the socket', () => {
  it.each([
    new RpcError(-32042, 'visit', { elicitations: [1] }, KEY),
    new CancelledError(),
    new TransportClosedError('gone', { sent: false, key: KEY }),
    new StartupFailedError('no', { key: KEY, authRequired: true, data: { failureReason: 'x' } }),
    new UnknownServerError(KEY, { suggestion: 'note' }),
    new AmbiguousServerError('notes', [null, 'devbox']),
    new StaleCatalogError(KEY, 'add'),
    new ToolDisabledError({ name: 'notes', environment: null }, 'add'),
    new ReeveError('of_later', 'a code of a later version', { place: 'x:1:2' }),
  ])('is the same on the other side: $code', (error) => {
    const found = over(error)
    expect(found.toJSON()).toEqual(error.toJSON())
    expect({ ...found, name: '' }).toEqual({ ...error, name: '' })
    if (!['stale_catalog', 'tool_disabled'].includes(error.code)) expect(found).toBeInstanceOf(error.constructor)
  })

  it('shows nothing of itself when it is none of ours', () => {
    expect(over(new TypeError('secret')).toJSON()).toEqual({
      code: 'internal',
      message: expect.not.stringContaining('secret'),
    })
    expect(errorFromWire({}).code).toBe('internal')
  })
})
