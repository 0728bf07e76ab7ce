import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SandboxRefusedError } from '../../errors.js'
import { launch, readSandboxMeta, readSandboxRequest } from './index.js'
import { rawMember } from './raw-member.js'

describe('the text of a member', () => {
  it.each([
    ['{"a":1.0}', ['a'], '1.0'],
    ['{"a":{"b" : [ 1 , "]" ] } }', ['a', 'b'], '[ 1 , "]" ]'],
    [String.raw`{"x":"\"}","a":"\\"}`, ['a'], String.raw`"\\"`],
    ['\n{\t"a"\r: true }', ['a'], 'true'],
    ['{"a":12345678901234567890,"b":2}', ['a'], '12345678901234567890'],
    ['{"":{"":{}}}', ['', ''], '{}'],
    [String.raw`{"\u0061":1}`, ['a'], '1'],
    ['{"a":{"b":1},"b":2}', ['b'], '2'],
    ['{"b":{"a":1}}', ['a'], undefined],
    ['{}', ['a'], undefined],
    ['[{"a":1}]', ['a'], undefined],
    ['{"a":"{\\"b\\":1}"}', ['a', 'b'], undefined],
    ['"a"', ['a'], undefined],
    ['7', [], '7'],
  ])('of %s at %j is %s', (text, path, raw) => {
    expect(rawMember(text, path)).toBe(raw)
  })

  it('is what parsing gives, for every member of every object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent)
        for (const [name, member] of Object.entries(value)) {
          const raw = rawMember(text, [name])
          if (raw === undefined || JSON.stringify(JSON.parse(raw)) !== JSON.stringify(member))
            expect(raw).toBe(JSON.stringify(member))
        }
      }),
      { numRuns: 5000 },
    )
  })
})

describe('whatever comes', () => {
  const names = fc.constantFrom('codex/sandbox-state', 'codex/sandbox-state-meta', 'codex/sandbox-launcher')
  const launcher = fc.record({ codexExecutable: fc.anything(), reeveExecutable: fc.constantFrom('/a', 'a', null) })
  const meta = fc.dictionary(names, fc.oneof(fc.anything(), fc.jsonValue(), launcher))
  const outcome = (read: () => unknown) => {
    try {
      read()
    } catch (error) {
      if (!(error instanceof SandboxRefusedError)) throw error
    }
  }

  it('is read or refused, parsed', () => {
    fc.assert(
      fc.property(fc.oneof(meta, fc.anything()), (value) => {
        outcome(() => launch(readSandboxMeta(value, 'stdio'), ['true']))
      }),
      { numRuns: 10_000 },
    )
  })

  it('is read or refused, as text', () => {
    const request = meta.map((value) =>
      JSON.stringify({ params: { _meta: value } }, (_, one) => (typeof one === 'bigint' ? 0 : one)),
    )
    const cut = fc.tuple(request, fc.nat(200)).map(([text, at]) => text.slice(0, at) + text.slice(at + 1))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), request, cut), (text) => {
        outcome(() => launch(readSandboxRequest(text, 'stdio'), ['true']))
      }),
      { numRuns: 10_000 },
    )
  })
})
