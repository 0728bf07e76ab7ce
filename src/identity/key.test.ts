import { describe, expect, it } from 'vitest'
import {
  compareKeys,
  compareSerialised,
  displayKey,
  keyText,
  ServerKeyMap,
  sameKey,
  serialiseKey,
  serverKey,
} from './key.js'

describe('server keys', () => {
  it('(14) are shown with their environment', () => {
    expect(displayKey(serverKey('probe'))).toBe('probe')
    expect(displayKey(serverKey('probe', 'envB'))).toBe('probe (environment envB)')
    expect(displayKey(serverKey('probe', ''))).toBe('probe (environment )')
  })

  it('serialise to the name, or to compact JSON', () => {
    expect(serialiseKey(serverKey('a.b'))).toBe('a.b')
    expect(serialiseKey(serverKey('a"b', 'Ünï'))).toBe('["Ünï","a\\"b"]')
  })

  it('differ as text even when they serialise alike', () => {
    const [shared, scoped] = [serverKey('["enva","notes"]'), serverKey('notes', 'enva')]
    expect(serialiseKey(shared)).toBe(serialiseKey(scoped))
    expect(keyText(shared)).not.toBe(keyText(scoped))
    expect(keyText(serverKey('a', null))).not.toBe(keyText(serverKey('a', 'null')))
    expect(sameKey(shared, scoped)).toBe(false)
    expect(sameKey(scoped, serverKey('notes', 'enva'))).toBe(true)
  })

  it('(10) order namespaces bytewise by the serialised form', () => {
    const keys = [
      serverKey('zed'),
      serverKey('a', 'envb'),
      serverKey('z', 'enva'),
      serverKey('b', 'enva'),
      serverKey('Zed'),
    ]
    expect(keys.sort(compareSerialised).map(serialiseKey)).toEqual([
      'Zed',
      '["enva","b"]',
      '["enva","z"]',
      '["envb","a"]',
      'zed',
    ])
    // UTF-8 order, where UTF-16 code units would say the opposite.
    expect(compareSerialised(serverKey('\uff5e'), serverKey('😀'))).toBeLessThan(0)
  })

  it('order status rows by name, then environment with thread-wide first', () => {
    const keys = [serverKey('b'), serverKey('a', 'x'), serverKey('a', ''), serverKey('a')]
    expect(keys.sort(compareKeys)).toEqual([serverKey('a'), serverKey('a', ''), serverKey('a', 'x'), serverKey('b')])
  })

  it('are exact in a map, whatever they are called', () => {
    const map = new ServerKeyMap<number>([
      [serverKey('__proto__'), 1],
      [serverKey('__proto__', 'enva'), 2],
    ])
    map.set(serverKey('__proto__'), 3)
    expect([map.size, map.get(serverKey('__proto__')), map.get(serverKey('__proto__', 'enva'))]).toEqual([2, 3, 2])
    expect(map.has(serverKey('constructor'))).toBe(false)
    expect(map.delete(serverKey('__proto__'))).toBe(true)
    expect(map.keys()).toEqual([serverKey('__proto__', 'enva')])
  })
})
