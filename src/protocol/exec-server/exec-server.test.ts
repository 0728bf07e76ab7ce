import { describe, expect, it } from 'vitest'
import { classifyExecMessage, decodeBytes, encodeBytes, fileUriOf, pathOfFileUri } from './index.js'

describe('bytes', () => {
  it('come back as they went', () => {
    const bytes = Buffer.from([0, 255, 128, 10])
    expect(decodeBytes(encodeBytes(bytes))).toEqual(bytes)
    expect(encodeBytes('é')).toBe('w6k=')
    expect(decodeBytes('')).toEqual(Buffer.alloc(0))
  })

  it('of any size are taken', () => {
    expect(decodeBytes(encodeBytes(Buffer.alloc(8 * 1024 * 1024)))?.length).toBe(8 * 1024 * 1024)
  })

  it.each(['eA', 'eB==', 'e===', 'eA=', 'e-_=', '!!!!', 'eA==eA==', 'e A=', 'eA=\n', 7, null, undefined])(
    'refuse %j',
    (text) => {
      expect(decodeBytes(text)).toBeUndefined()
    },
  )
})

describe('paths', () => {
  it.each([
    ['/srv/a b/ü#?%', 'posix', 'file:///srv/a%20b/%C3%BC%23%3F%25'],
    ['C:\\work\\a b', 'windows', 'file:///C:/work/a%20b'],
    ['\\\\host\\share\\a', 'windows', 'file://host/share/a'],
  ] as const)('%s become URIs in the style of the executor', (path, style, uri) => {
    expect(fileUriOf(path, style)).toBe(uri)
    expect(pathOfFileUri(uri, style)).toBe(path)
  })

  it.each([
    ['relative', 'posix'],
    ['', 'posix'],
    ['/a\0b', 'posix'],
    ['/\ud800', 'posix'],
    ['\\dir', 'windows'],
    ['C:dir', 'windows'],
  ] as const)('%j has no URI in %s', (path, style) => {
    expect(fileUriOf(path, style)).toBeUndefined()
  })

  it.each(['/srv', 'file://host/srv', 'file:///a%2fb', 'file:///a%00', 'http://x/', '', 7])('%j is no path', (uri) => {
    expect(pathOfFileUri(uri, 'posix')).toBeUndefined()
  })
})

describe('a message', () => {
  it.each([
    [{ id: 1, method: 'a' }, 'request'],
    [{ id: 'x', method: 'a', result: 1 }, 'request'],
    [{ method: 'a', params: {} }, 'notification'],
    [{ id: -5, result: null }, 'result'],
    [{ id: 1, error: { code: -1, message: 'm' } }, 'error'],
    [{ id: null, method: 'a' }, 'malformed'],
    [{ id: 1.5, method: 'a' }, 'malformed'],
    [{ id: 1 }, 'malformed'],
    [{ id: 1, error: 'x' }, 'malformed'],
    [{ method: 7 }, 'malformed'],
    [[], 'malformed'],
    ['x', 'malformed'],
    [null, 'malformed'],
  ])('%j is a %s', (value, kind) => {
    expect(classifyExecMessage(value).kind).toBe(kind)
  })
})
