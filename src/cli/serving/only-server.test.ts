import { expect, it } from 'vitest'
import type { ServerConfig } from '../../config/index.js'
import { serverKey } from '../../identity/index.js'
import { onlyServer } from './only-server.js'

const server = (name: string, enabled = true) => ({
  key: serverKey(name),
  source: { kind: 'config' as const },
  config: { enabled } as ServerConfig,
})

it('is the one that is switched on', () => {
  expect(onlyServer({ servers: [server('a', false), server('b')] })).toEqual(serverKey('b'))
})

it('is no server when there are none or several, with their names', () => {
  expect(() => onlyServer({ servers: [server('a', false)] })).toThrow('none is enabled')
  expect(() => onlyServer({ servers: [server('a'), server('b')] })).toThrow('a, b are enabled')
})
