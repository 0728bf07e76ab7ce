import { describe, expect, it } from 'vitest'
import { isLoopback, proxyFor } from './proxy.js'

const through = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.url

describe('the proxy of a URL', () => {
  it.each([
    [
      'https takes HTTPS_PROXY',
      'https://a.test/',
      { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:2' },
      'http://p:1',
    ],
    ['http takes HTTP_PROXY', 'http://a.test/', { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:2' }, 'http://q:2'],
    ['https does not fall back to HTTP_PROXY', 'https://a.test/', { HTTP_PROXY: 'http://q:2' }, undefined],
    [
      'the lower-case name wins',
      'http://a.test/',
      { http_proxy: 'http://l:1', HTTP_PROXY: 'http://u:2' },
      'http://l:1',
    ],
    ['a blank value is none', 'http://a.test/', { http_proxy: ' ', HTTP_PROXY: 'http://u:2' }, 'http://u:2'],
    ['a scheme is not needed', 'http://a.test/', { HTTP_PROXY: 'p.test:3128' }, 'http://p.test:3128'],
    ['a path is dropped', 'http://a.test/', { HTTP_PROXY: 'https://p.test:3128/x' }, 'https://p.test:3128'],
    ['socks is passed on', 'http://a.test/', { HTTP_PROXY: 'socks5://p.test:1080' }, 'socks5://p.test:1080'],
    ['nothing set', 'http://a.test/', {}, undefined],
  ])('%s', (_what, url, env, expected) => {
    expect(through(url, env as Record<string, string>)).toBe(expected)
  })

  it.each([
    ['http://a.test/', 'a.test', false],
    ['http://sub.a.test/', 'a.test', false],
    ['http://sub.a.test/', '.a.test', false],
    ['http://sub.a.test/', '*.a.test', false],
    ['http://nota.test/', 'a.test', true],
    ['http://A.TEST./', 'a.test', false],
    ['http://a.test:81/', 'a.test:80', true],
    ['http://a.test/', 'a.test:80', false],
    ['http://a.test/', '*', false],
    ['http://a.test/', 'x.test, a.test', false],
    ['http://a.test/', 'x.test a.test', false],
    ['http://10.1.2.3/', '10.0.0.0/8', false],
    ['http://11.1.2.3/', '10.0.0.0/8', true],
    ['http://10.1.2.3/', '10.0.0.0/99', true],
    ['http://10.1.2.3/', 'fd00::/8', true],
    ['http://[fd00::5]/', 'fd00::/8', false],
    ['http://[fd00::5]/', '[fd00::5]', false],
    ['http://[fd00::5]/', 'fd00::5', false],
    ['http://[fd00::5]:81/', '[fd00::5]:80', true],
    ['http://a.test/', '', true],
    ['http://localhost:3000/', '', false],
    ['http://app.localhost/', '', false],
    ['http://127.9.9.9/', '', false],
    ['http://[::1]/', '', false],
    ['http://localhost/', '<-loopback>', true],
    ['http://localhost/', '<-loopback>,localhost', false],
  ])('%s with NO_PROXY=%s: proxied %s', (url, exceptions, proxied) => {
    expect(through(url, { HTTP_PROXY: 'http://p:1', NO_PROXY: exceptions }) !== undefined).toBe(proxied)
  })

  it('takes the credentials out of the address', () => {
    expect(proxyFor(new URL('http://a.test/'), { HTTP_PROXY: 'http://me@p:1' })).toEqual({
      url: 'http://p:1',
      authorization: `Basic ${Buffer.from('me:').toString('base64')}`,
    })
    expect(proxyFor(new URL('http://a.test/'), { HTTP_PROXY: 'http://me:50%25%zz@p:1' })).toEqual({
      url: 'http://p:1',
      authorization: `Basic ${Buffer.from('me:50%25%zz').toString('base64')}`,
    })
  })

  it.each(['ftp://p:1', 'http://', ':::', 'http://a b'])('refuses %s as an address', (value) => {
    expect(() => through('http://a.test/', { HTTP_PROXY: value })).toThrowError(
      expect.objectContaining({ code: 'invalid_proxy', place: 'HTTP_PROXY' }),
    )
  })
})

it.each([
  ['localhost', true],
  ['LOCALHOST.', true],
  ['[::1]', true],
  ['127.0.0.1', true],
  ['128.0.0.1', false],
  ['notlocalhost', false],
  ['localhost.example', false],
])('%s is the loopback: %s', (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback)
})
