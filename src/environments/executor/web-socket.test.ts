import { describe, expect, it } from 'vitest'
import { webSocketConnector } from './web-socket.js'

describe('a connection by WebSocket', () => {
  it.each([
    ['ws://devbox.test:4100/', true],
    ['ws://10.1.2.3:4100/', true],
    ['ws://127.0.0.1.test/', true],
    ['wss://devbox.test/', false],
    ['ws://127.0.0.1:4100/', false],
    ['ws://127.9.9.9/', false],
    ['ws://[::1]:4100/', false],
    ['ws://localhost:4100/', false],
  ])('to %s is exposed to the network: %s', (url, isExposed) => {
    expect(webSocketConnector({ environment: 'far', url }).isExposed).toBe(isExposed)
  })
})
