import { join, normalize } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mediaName } from './media-name.js'

describe('the file name of something that a server sent', () => {
  it.each([
    ['draw', 'image/png', undefined, 'draw.png'],
    ['draw', 'IMAGE/JPEG; q=1', undefined, 'draw.jpg'],
    ['draw', undefined, undefined, 'draw.bin'],
    ['draw', '__proto__', undefined, 'draw.bin'],
    ['x', 'text/plain', 'file:///notes/today.md', 'today.md'],
    ['x', 'image/png', 'https://h/pic?size=1#a', 'pic.png'],
    ['x', 'image/png', 'https://h/%E6%97%A5%2Fb', '日_b.png'],
    ['x', 'image/png', 'a://b/..', 'x.png'],
    ['x', 'image/png', 'a://b/.ssh', 'ssh.png'],
    ['x', 'text/plain', 'a://b/con.txt', '_con.txt'],
    ['../..', 'image/png', undefined, 'content.png'],
  ])('%s, %s, %s → %s', (fallback, type, uri, expected) => {
    expect(mediaName(fallback, type, uri)).toBe(expected)
  })

  it('never leaves the folder and is never empty or hidden', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string({ unit: 'binary' }), (fallback, type, uri) => {
        const name = mediaName(fallback, type, uri)
        expect(name).toMatch(/^[^./\\][^/\\]*$/)
        expect(normalize(join('folder', name))).toBe(join('folder', name))
        expect(name.length).toBeLessThanOrEqual(110)
      }),
    )
  })
})
