import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../../test/fixtures/server-config.js'
import { definitionDigest, endpointFingerprint } from './binding.js'
import { digestOf } from './digest.js'

describe('the fingerprint of an endpoint', () => {
  const plain = endpointFingerprint(stdioConfig())
  const url = 'https://example.com/mcp'

  it('changes with place, command, arguments, folder and names of variables', () => {
    const others = [
      stdioConfig({ command: 'bash' }),
      stdioConfig({ args: ['x'] }),
      stdioConfig({ cwd: '/elsewhere' }),
      stdioConfig({ env: { TOKEN: 'a' } }),
      stdioConfig({ envVars: ['TOKEN', 'HOME'] }),
      stdioConfig({}, { environmentId: 'devbox' }),
    ].map(endpointFingerprint)
    expect(new Set([plain, ...others]).size).toBe(7)
  })

  it('is the same for other values of variables and headers', () => {
    expect(endpointFingerprint(stdioConfig({ env: { A: '1', B: '2' } }))).toBe(
      endpointFingerprint(stdioConfig({ env: { B: '3', A: '4' } })),
    )
    expect(endpointFingerprint(httpConfig(url, { httpHeaders: { Authorization: 'Bearer a' } }))).toBe(
      endpointFingerprint(httpConfig(url, { httpHeaders: { authorization: 'Bearer b' } })),
    )
  })

  it('changes with the URL, its query included, and with the names of headers', () => {
    const fingerprints = [
      httpConfig(url),
      httpConfig(`${url}?tenant=2`),
      httpConfig(url, { httpHeaders: { 'X-Tenant': 'a' } }),
      httpConfig(url, { bearerTokenEnvVar: 'TOKEN' }),
      httpConfig(url, { httpHeadersHelper: 'helper' }),
    ].map(endpointFingerprint)
    expect(new Set(fingerprints).size).toBe(5)
  })

  it('is the same for what only shapes the view of a server', () => {
    expect(endpointFingerprint(stdioConfig({}, { toolTimeoutMs: 1, enabledTools: ['a'] }))).toBe(plain)
  })
})

describe('the digest of a definition', () => {
  const tool = { name: 'add', description: 'Adds', inputSchema: { type: 'object', properties: { a: {}, b: {} } } }

  it('changes with schema, annotations, description and title', () => {
    const digests = [
      tool,
      { ...tool, description: 'Adds, and sends away' },
      { ...tool, title: 'Add' },
      { ...tool, inputSchema: { type: 'object' } },
      { ...tool, outputSchema: { type: 'object' } },
      { ...tool, annotations: { readOnlyHint: false } },
    ].map(definitionDigest)
    expect(new Set(digests).size).toBe(6)
  })

  it('is the same in another order, and with another _meta', () => {
    const { name, description } = tool
    const turned = { inputSchema: { properties: { b: {}, a: {} }, type: 'object' }, description, name, _meta: { v: 2 } }
    expect(definitionDigest(turned)).toBe(definitionDigest(tool))
  })

  it('tells apart what JSON tells apart, members named like those of a prototype included', () => {
    expect(digestOf(JSON.parse('{"__proto__":1}'))).not.toBe(digestOf({}))
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const same = sortedJson(a) === sortedJson(b)
        expect(digestOf(a) === digestOf(b)).toBe(same)
      }),
      { numRuns: 2000 },
    )
  })

  it('takes a schema of any depth and width', () => {
    let deep: unknown = {}
    for (let level = 0; level < 200_000; level += 1) deep = [deep]
    const wide = Array.from({ length: 300_000 }, (_, index) => index)
    expect(digestOf({ deep, wide })).toMatch(/^[0-9a-f]{64}$/)
  })
})

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
