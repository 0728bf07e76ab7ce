import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokerPlace } from './place.js'

describe('the socket of a home', () => {
  it('stands in the home where its path fits', () => {
    expect(brokerPlace('/home/a/.reeve').socket).toEqual({
      kind: 'unix',
      path: '/home/a/.reeve/run/broker.sock',
      folder: '/home/a/.reeve/run',
    })
  })

  it('stands in a folder of the user alone where the path is too long, counted in bytes, and never too long there', () => {
    for (const home of [`/${'x'.repeat(80)}`, `/${'é'.repeat(40)}`, `/${'x'.repeat(4000)}`]) {
      const { socket } = brokerPlace(home, { user: '4294967295' })
      expect(socket).toMatchObject({ kind: 'unix', folder: '/tmp/reeve-4294967295' })
      expect(Buffer.byteLength(`${socket.path}.new`)).toBeLessThan(104)
    }
    const [a, b] = ['a', 'b'].map((name) => brokerPlace(`/${'x'.repeat(100)}/${name}`).socket.path)
    expect(a).not.toBe(b)
  })

  it('is the same for every spelling of a home', () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-place-'))
    try {
      const home = join(folder, 'x'.repeat(100))
      mkdirSync(home)
      symlinkSync(home, join(folder, `${'y'.repeat(100)}`))
      expect(brokerPlace(join(folder, 'y'.repeat(100))).socket).toEqual(brokerPlace(home).socket)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('is a named pipe on Windows, of this user and home', () => {
    const of = (home: string, user: string) => brokerPlace(home, { platform: 'win32', user }).socket
    expect(of('/h', 'ann')).toMatchObject({
      kind: 'pipe',
      path: expect.stringMatching(/^\\\\\.\\pipe\\reeve-[0-9a-f]{24}$/),
    })
    expect(of('/h', 'ann')).not.toEqual(of('/h', 'bob'))
    expect(of('/h', 'ann')).not.toEqual(of('/i', 'ann'))
  })
})
