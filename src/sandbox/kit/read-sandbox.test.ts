import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inexactness } from './exact-json.js'
import { launch, readSandboxMeta, readSandboxRequest, SANDBOX_CAPABILITIES } from './index.js'

const STATE = '{"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///workspace/a"}'
const NAMES = ['codex/sandbox-state', 'codex/sandbox-state-meta'] as const
const CODEX = '/opt/codex/codex'

/** A call as text, its `_meta` made of these members as they are written. */
function request(members: readonly (readonly [name: string, text: string])[]): string {
  const meta = members.map(([name, text]) => `${JSON.stringify(name)} : ${text}`).join(' , ')
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"_meta":{}},"_meta":{ ${meta} },"name":"run"}}`
}

const withState = (state: string) =>
  request([
    [NAMES[0], state],
    [NAMES[1], state],
    ['codex/sandbox-launcher', JSON.stringify({ codexExecutable: CODEX })],
  ])

describe('a request', () => {
  it('gives state and launcher', () => {
    expect(readSandboxRequest(withState(STATE), 'stdio')).toEqual({
      state: STATE,
      codexExecutable: CODEX,
      reeveExecutable: null,
    })
  })

  it.each(NAMES)('gives the state under %s alone', (name) => {
    expect(readSandboxRequest(request([[name, STATE]]), 'stdio').state).toBe(STATE)
    expect(readSandboxMeta({ [name]: JSON.parse(STATE) }, 'stdio').state).toBe(STATE)
  })

  it('gives nothing when nothing was sent', () => {
    const nothing = { state: null, codexExecutable: null, reeveExecutable: null }
    expect(readSandboxRequest(request([]), 'stdio')).toEqual(nothing)
    for (const text of ['{}', '[]', '[{"params":{}}]', '{"params":[]}', '{"params":{"_meta":7}}', 'null'])
      expect(readSandboxRequest(text, 'stdio')).toEqual(nothing)
    expect(readSandboxMeta(undefined, 'stdio')).toEqual(nothing)
    expect(readSandboxMeta({}, 'stdio')).toEqual(nothing)
  })

  it('never takes arguments for authority', () => {
    const args = { _meta: JSON.parse(`{"${NAMES[0]}":${STATE}}`), [NAMES[0]]: JSON.parse(STATE) }
    const text = JSON.stringify({ params: { name: 'run', arguments: args, [NAMES[0]]: {} }, _meta: args })
    expect(readSandboxRequest(text, 'stdio').state).toBeNull()
  })

  it('gives both launchers', () => {
    const launcher = { codexExecutable: CODEX, reeveExecutable: '/opt/reeve/reeve', later: 1 }
    const meta = { 'codex/sandbox-launcher': launcher }
    expect(readSandboxMeta(meta, 'stdio')).toEqual({
      state: null,
      codexExecutable: CODEX,
      reeveExecutable: '/opt/reeve/reeve',
    })
  })

  it('gives no launcher to a server over HTTP, whoever sent one', () => {
    expect(readSandboxRequest(withState(STATE), 'http')).toMatchObject({ state: STATE, codexExecutable: null })
    expect(readSandboxMeta(JSON.parse(withState(STATE)).params._meta, 'http')).toMatchObject({ codexExecutable: null })
  })

  it('gives a value that nothing changes', () => {
    expect(Object.isFrozen(readSandboxRequest(withState(STATE), 'stdio'))).toBe(true)
  })

  it('reads names in any spelling', () => {
    const text = withState(STATE)
      .replace('"_meta":{ ', String.raw`"\u005fmeta":{ `)
      .replaceAll('codex/s', String.raw`codex\/s`)
    expect(readSandboxRequest(text, 'stdio')).toMatchObject({ state: STATE, codexExecutable: CODEX })
  })
})

describe('what can mean two things', () => {
  it.each([
    [
      'two states that differ',
      request([
        [NAMES[0], STATE],
        [NAMES[1], '{}'],
      ]),
      'conflicting_states',
    ],
    [
      'a state that is there twice',
      request([
        [NAMES[0], STATE],
        [NAMES[0], STATE],
      ]),
      'malformed_state',
    ],
    [
      'a state that is there twice in two spellings',
      request([[NAMES[0], STATE]]).replace('"codex/', String.raw`"codex\/sandbox-state":{},"codex/`),
      'malformed_state',
    ],
    ['two _meta', `{"params":{"_meta":{},"_meta":{"${NAMES[0]}":${STATE}}}}`, 'malformed_state'],
    ['a state that is null', withState('null'), 'malformed_state'],
    ['a state that is text', withState(JSON.stringify(STATE)), 'malformed_state'],
    ['a state that is a list', withState('[]'), 'malformed_state'],
    ['half a request', withState(STATE).slice(0, -2), 'malformed_state'],
    ['a launcher that is a path', request([['codex/sandbox-launcher', '"/bin/sh"']]), 'malformed_launcher'],
    [
      'a launcher without a name for its place',
      request([['codex/sandbox-launcher', '{"codexExecutable":7}']]),
      'malformed_launcher',
    ],
    [
      'a launcher to be looked up',
      request([['codex/sandbox-launcher', '{"codexExecutable":"codex"}']]),
      'malformed_launcher',
    ],
    [
      'a launcher with a NUL',
      request([['codex/sandbox-launcher', String.raw`{"codexExecutable":"/a\u0000b"}`]]),
      'malformed_launcher',
    ],
    [
      'a launcher that is no UTF-8',
      request([['codex/sandbox-launcher', String.raw`{"codexExecutable":"/a\ud800"}`]]),
      'malformed_launcher',
    ],
  ])('is refused: %s', (_, text, code) => {
    expect(() => readSandboxRequest(text, 'stdio')).toThrow(expect.objectContaining({ code }))
  })

  it.each([
    ['a _meta that is a list', [], 'malformed_state'],
    ['a _meta that is null', null, 'malformed_state'],
    ['a large number', { [NAMES[0]]: { depth: 2 ** 60 } }, 'inexact_state'],
    ['a number without an end', { [NAMES[0]]: { depth: Number.POSITIVE_INFINITY } }, 'inexact_state'],
    ['minus nothing', { [NAMES[0]]: { depth: -0 } }, 'inexact_state'],
    ['what is no JSON', { [NAMES[0]]: { depth: undefined } }, 'inexact_state'],
    ['a date', { [NAMES[0]]: { since: new Date(0) } }, 'inexact_state'],
  ])('is refused when parsed: %s', (_, meta, code) => {
    expect(() => readSandboxMeta(meta, 'stdio')).toThrow(expect.objectContaining({ code }))
  })

  it('refuses what is nested without an end', () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(readSandboxRequest(withState(deep), 'stdio').state).toBe(deep)
    expect(() => readSandboxMeta({ [NAMES[0]]: JSON.parse(deep) }, 'stdio')).toThrow(
      expect.objectContaining({ code: 'malformed_state' }),
    )
  })

  it('takes nothing from a prototype', () => {
    const meta = Object.create({ [NAMES[0]]: {} })
    expect(readSandboxMeta(meta, 'stdio').state).toBeNull()
  })
})

it('advertises both names', () => {
  expect(Object.keys(SANDBOX_CAPABILITIES.experimental)).toEqual(NAMES)
})

describe('a state with members that nobody knows', () => {
  const policy = fc.record(
    {
      permissionProfile: fc.record({ type: fc.constant('managed'), later: fc.jsonValue({ maxDepth: 2 }) }),
      sandboxCwd: fc.constant('file:///workspace/a'),
      ['__proto__']: fc.jsonValue({ maxDepth: 1 }),
      constructor: fc.jsonValue({ maxDepth: 0 }),
    },
    { requiredKeys: ['permissionProfile', 'sandboxCwd'] },
  )

  it('is the same, byte for byte, in the command line', () => {
    fc.assert(
      fc.property(policy, fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }), (value, spelling) => {
        const text = spelled(value, spelling)
        const fromText = launch(readSandboxRequest(withState(text), 'stdio'), ['true'])
        if (fromText.args[2] !== text) expect(fromText.args[2]).toBe(text)
        const meta: unknown = JSON.parse(withState(text)).params._meta
        if (inexactness(JSON.parse(text)) !== undefined) {
          expect(() => readSandboxMeta(meta, 'stdio')).toThrow(expect.objectContaining({ code: 'inexact_state' }))
          return
        }
        const compact = JSON.stringify(value)
        const fromMeta = launch(readSandboxMeta(meta, 'stdio'), ['true'])
        if (fromMeta.args[2] !== compact) expect(fromMeta.args[2]).toBe(compact)
      }),
      { numRuns: 100_000 },
    )
  }, 240_000)
})

/** JSON with blanks, escapes and numbers as `spelling` has it: the same value in other bytes. */
function spelled(value: unknown, spelling: readonly number[]): string {
  let next = 0
  const pick = () => spelling[next++ % spelling.length] ?? 0
  const blank = () => ['', ' ', '\n', '\t ', '', '\r\n'][pick()] ?? ''
  const string = (text: string) =>
    pick() === 1
      ? JSON.stringify(text).replaceAll('/', String.raw`\/`).replaceAll('a', String.raw`\u0061`)
      : JSON.stringify(text)
  const write = (one: unknown): string => {
    if (typeof one === 'string') return string(one)
    if (typeof one === 'number' && Number.isInteger(one) && Number.isSafeInteger(one) && one !== 0 && pick() === 2)
      return `${one}.0`
    if (typeof one !== 'object' || one === null) return JSON.stringify(one)
    const items = Array.isArray(one)
      ? one.map((item) => blank() + write(item) + blank())
      : Object.entries(one).map(
          ([name, item]) => `${blank()}${string(name)}${blank()}:${blank()}${write(item)}${blank()}`,
        )
    return Array.isArray(one) ? `[${items.join(',')}]` : `{${items.join(',')}}`
  }
  return write(value)
}
