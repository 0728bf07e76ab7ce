import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CodexNamingOptions, codexNaming } from './codex-naming.js'
import { serverKey } from './key.js'
import type { NamingInput } from './naming.js'

const tools = (name: string, environment: string | null, ...raw: string[]): NamingInput[] =>
  raw.map((tool) => ({ key: serverKey(name, environment), tool }))
const flats = (inputs: NamingInput[], options: CodexNamingOptions = { multiEnvironment: true }) =>
  codexNaming(options)
    .assign(inputs)
    .map((named) => named.flat)

describe('codex names', () => {
  it('gives a plain server mcp__<server> and keeps the raw name for the wire', () => {
    expect(codexNaming().assign(tools('music-studio', null, 'get-strudel-guide'))).toEqual([
      {
        namespace: 'mcp__music_studio',
        name: 'get_strudel_guide',
        flat: 'mcp__music_studio__get_strudel_guide',
        key: serverKey('music-studio'),
        tool: 'get-strudel-guide',
      },
    ])
  })

  it('names a tool that is given twice once', () => {
    expect(flats([...tools('a', null, 'x', 'x'), ...tools('a', null, 'x')])).toEqual(['mcp__a__x'])
  })

  it('leaves the environment out while the feature is off', () => {
    expect(flats(tools('notes', 'enva', 'add'), {})).toEqual(['mcp__notes__add'])
  })

  it('names the same whatever the order of the input', () => {
    const inputs = [
      ...tools('a.b', 'enva', 'x', 'x.y', 'x-y'),
      ...tools('a-b', 'enva', 'x'),
      ...tools('Zed', null, 'x'),
      ...tools('zed', null, 'y', 'x'),
    ]
    expect(flats([...inputs].reverse())).toEqual(flats(inputs))
  })

  it('tells apart four servers and two tools whose sanitised names collide', () => {
    const names = flats([
      ...tools('basic-server', null, 'tool-name', 'tool_name'),
      ...tools('basic_server', null, 'lookup'),
      ...tools('npm:@scope/package.name', null, 'lookup'),
      ...tools('npm__scope_package_name', null, 'lookup'),
    ])
    expect(new Set(names).size).toBe(5)
    expect(names.filter((name) => /^mcp__basic_server_[0-9a-f]{12}__tool_name_[0-9a-f]{12}$/.test(name))).toHaveLength(
      2,
    )
  })

  it('keeps a total of 128 and cuts 129 to exactly 128', () => {
    const server = 's'.repeat(40)
    expect(flats(tools(server, null, 't'.repeat(81)))).toEqual([`mcp__${server}__${'t'.repeat(81)}`])
    const [cut = ''] = flats(tools(server, null, 't'.repeat(82)))
    expect(cut).toHaveLength(128)
    expect(cut).toMatch(/^mcp__s{40}__t{68}_[0-9a-f]{12}$/)
  })

  it('keeps two tools of 128 characters apart under one namespace', () => {
    const named = codexNaming().assign(tools('my_server', null, `${'l'.repeat(127)}a`, `${'l'.repeat(127)}b`))
    expect(named.map(({ namespace }) => namespace)).toEqual(['mcp__my_server', 'mcp__my_server'])
    expect(new Set(named.map(({ flat }) => flat)).size).toBe(2)
    for (const { flat } of named) expect(flat).toMatch(/^[A-Za-z0-9_]{128}$/)
  })

  it('hashes again when a cut pair is taken', () => {
    const long = `${'l'.repeat(200)}`
    const [cut] = codexNaming().assign(tools('a', null, long))
    const named = codexNaming().assign(tools('a', null, long, cut?.name ?? ''))
    expect(new Set(named.map(({ name }) => name)).size).toBe(2)
    for (const { flat } of named) expect(flat.length).toBeLessThanOrEqual(128)
  })

  it('leaves the prefix out for the servers named, by raw name, and for all when told so', () => {
    const inputs = [...tools('a.b', null, 'x'), ...tools('c', null, 'x'), ...tools('d', null, 'x')]
    expect(flats(inputs, { nonPrefixedServers: ['a.b', 'c'] })).toEqual(['a_b__x', 'c__x', 'mcp__d__x'])
    expect(flats(inputs, { prefixed: false })).toEqual(['a_b__x', 'c__x', 'd__x'])
    expect(
      flats(
        [
          {
            key: serverKey('codex_apps'),
            tool: 'cal_add',
            connectorId: 'c1',
            rawNamespace: 'codex_apps__cal',
            callableName: '_add',
          },
        ],
        { nonPrefixedServers: ['codex_apps'] },
      ),
    ).toEqual(['codex_apps__cal___add'])
  })

  it('does not prefix twice, unless the hash comes between', () => {
    expect(flats(tools('mcp__pre', null, 'x'))).toEqual(['mcp__pre__x'])
    expect(flats(tools('mcp__pre', 'enva', 'x'))).toEqual(['mcp__4398a80ccd8f__mcp__pre__x'])
  })

  it('suffixes colliding namespaces before a closing delimiter', () => {
    const named = codexNaming().assign([...tools('a::', null, 'x'), ...tools('a--', null, 'x')])
    for (const { namespace } of named) expect(namespace).toMatch(/^mcp__a_[0-9a-f]{12}__$/)
  })

  it('gives two flat texts to pairs that join to the same one', () => {
    const named = codexNaming().assign([...tools('a', null, 'b__c'), ...tools('a__b', null, 'c')])
    expect(named.map(({ namespace, name }) => [namespace, name])).toEqual([
      ['mcp__a', 'b__c'],
      ['mcp__a__b', 'c'],
    ])
    expect(named[0]?.flat).toBe('mcp__a__b__c')
    expect(named[1]?.flat).toMatch(/^mcp__a__b__c_[0-9a-f]{12}$/)
  })

  it('keeps pairs and flats apart, short and clean for any set of names', () => {
    const text = fc.oneof(
      fc.constantFrom(
        'a',
        'a.b',
        'a-b',
        'a_b',
        'a__b',
        'b__c',
        'c',
        '',
        '__proto__',
        'constructor',
        '\ud800',
        '\udfff',
        '["a","c"]',
        '記',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.integer({ min: 90, max: 140 }).map((length) => 'n'.repeat(length)),
    )
    const input = fc.record({
      key: fc.tuple(text, fc.option(text)).map(([name, env]) => serverKey(name, env)),
      tool: text,
    })
    fc.assert(
      fc.property(fc.array(input, { maxLength: 30 }), fc.boolean(), (inputs, prefixed) => {
        const named = codexNaming({ multiEnvironment: true, prefixed }).assign(inputs)
        const distinct = new Set(inputs.map(({ key, tool }) => JSON.stringify([key.environment, key.name, tool])))
        expect(new Set(named.map(({ namespace, name }) => `${namespace} ${name}`)).size).toBe(named.length)
        expect(new Set(named.map(({ flat }) => flat)).size).toBe(named.length)
        expect(codexNaming({ multiEnvironment: true, prefixed }).assign([...inputs].reverse())).toEqual(named)
        for (const { flat } of named) expect(flat).toMatch(/^[A-Za-z0-9_]{1,128}$/)
        expect(named).toHaveLength(distinct.size)
      }),
      { numRuns: 300 },
    )
  })

  it('names 10,000 tools of 20 servers', () => {
    const inputs = Array.from({ length: 10_000 }, (_, n) => ({
      key: serverKey(`s${n % 20}`, 'enva'),
      tool: `tool.${n}`,
    }))
    expect(new Set(flats(inputs)).size).toBe(10_000)
  })
})
