import { describe, expect, it } from 'vitest'
import { isNewer, isProof, newNonce, proofOf, readOpening } from './greeting.js'

describe('a version', () => {
  it.each([
    ['0.2.0', '0.1.9'],
    ['0.10.0', '0.9.0'],
    ['1.0.0', '1.0.0-rc.1'],
    ['1.0.0-rc.2', '1.0.0-rc.1'],
    ['1.0.1-rc.1', '1.0.0'],
    ['0.0.1', 'nonsense'],
  ])('%s came after %s, and not the other way round', (newer, older) => {
    expect(isNewer(newer, older)).toBe(true)
    expect(isNewer(older, newer)).toBe(false)
    expect(isNewer(newer, newer)).toBe(false)
  })
})

describe('a proof', () => {
  const opening = () => ({ reeve: '1.0.0', protocol: 1, nonce: newNonce() })
  const [client, broker] = [opening(), opening()]

  it('holds for its key, its side and its pair of openings alone', () => {
    const proof = proofOf('broker', 'key', client, broker)
    expect(isProof(proof, proofOf('broker', 'key', client, broker))).toBe(true)
    expect(isProof(proof, proofOf('broker', 'other', client, broker))).toBe(false)
    expect(isProof(proof, proofOf('client', 'key', client, broker))).toBe(false)
    expect(isProof(proof, proofOf('broker', 'key', client, opening()))).toBe(false)
    expect(isProof(proof, proofOf('broker', 'key', broker, client))).toBe(false)
    for (const none of [undefined, null, 7, '', proof.slice(1), `${proof}0`]) expect(isProof(none, proof)).toBe(false)
  })
})

describe('an opening', () => {
  const fine = { reeve: '1.0.0', protocol: 1, nonce: 'a'.repeat(32) }

  it('is taken with members of other versions, and not without its own', () => {
    expect(readOpening({ ...fine, later: true })).toEqual(fine)
    for (const wrong of [
      { reeve: 1 },
      { reeve: 'x'.repeat(65) },
      { protocol: '1' },
      { protocol: 1.5 },
      { nonce: 'A' },
      { nonce: 7 },
    ])
      expect(readOpening({ ...fine, ...wrong })).toBeUndefined()
  })
})
