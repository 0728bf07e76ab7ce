import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codexNaming } from './codex-naming.js'
import { serverKey } from './key.js'
import type { NamingInput } from './naming.js'
import { pinnedNaming } from './pinned-naming.js'

const tool = (server: string, name: string, environment: string | null = null): NamingInput => ({
  key: serverKey(server, environment),
  tool: name,
})
const thread = (multiEnvironment = true) => pinnedNaming(codexNaming({ multiEnvironment }), { multiEnvironment })
const shown = (naming: ReturnType<typeof thread>, ...tools: NamingInput[]) =>
  naming.assign(tools).map(({ namespace, name }) => `${namespace} ${name}`)

describe('names of a thread', () => {
  it('are those of the strategy the first time, both suffixed where they collide', () => {
    const tools = [tool('a.b', 'add'), tool('a-b', 'add'), tool('notes', 'x', 'enva')]
    expect(thread().assign(tools)).toEqual(codexNaming({ multiEnvironment: true }).assign(tools))
  })

  it('stay when a server with a colliding name joins, which alone gets the suffix', () => {
    const naming = thread()
    expect(shown(naming, tool('a.b', 'add'))).toEqual(['mcp__a_b add'])
    expect(shown(naming, tool('a.b', 'add'), tool('a-b', 'add'))).toEqual(['mcp__a_b_e0598e406614 add', 'mcp__a_b add'])
  })

  it('stay with a server that is gone, and are its own again when it is back', () => {
    const naming = thread()
    shown(naming, tool('a.b', 'add'))
    expect(shown(naming, tool('a-b', 'add'))).toEqual(['mcp__a_b_e0598e406614 add'])
    expect(shown(naming, tool('a.b', 'add'))).toEqual(['mcp__a_b add'])
    expect(shown(naming, tool('a-b', 'add'))).toEqual(['mcp__a_b_e0598e406614 add'])
  })

  it('stay when a tool with a colliding name joins its server', () => {
    const naming = thread()
    expect(shown(naming, tool('n', 'a.b'))).toEqual(['mcp__n a_b'])
    const [first, second] = shown(naming, tool('n', 'a.b'), tool('n', 'a-b'))
    expect(first).toBe('mcp__n a_b')
    expect(second).toMatch(/^mcp__n a_b_[0-9a-f]{12}$/)
  })

  it('are in one namespace a server, the cut one if a tool needs it', () => {
    const server = 'o'.repeat(105)
    const tools = [tool(server, 'x', 'enva'), tool(server, 'a_longer_name', 'enva')]
    const plain = codexNaming({ multiEnvironment: true }).assign(tools)
    expect(new Set(plain.map(({ namespace }) => namespace)).size).toBe(2)
    const named = thread().assign(tools)
    expect(named.map(({ namespace }) => namespace.length)).toEqual([113, 113])
    expect(new Set(named.map(({ namespace }) => namespace)).size).toBe(1)
    expect(named.map(({ name }) => name)).toContain('x')
  })

  it('keep two servers apart whose cut namespaces are one', () => {
    const named = thread().assign([tool(`${'s'.repeat(120)}a`, 'ask'), tool(`${'s'.repeat(120)}b`, 'ask')])
    expect(new Set(named.map(({ namespace }) => namespace)).size).toBe(2)
  })

  it('are not the environment’s while its id plays no part in them', () => {
    const naming = thread(false)
    expect(shown(naming, tool('notes', 'add', 'enva'))).toEqual(['mcp__notes add'])
    expect(shown(naming, tool('notes', 'add', 'envb'))).toEqual(['mcp__notes add'])
  })

  it('never change and never meet, whatever comes and goes', () => {
    const names = fc.constantFrom('a.b', 'a-b', 'a_b', 'n'.repeat(110), `${'n'.repeat(120)}x`, `${'n'.repeat(120)}y`)
    const tools = fc.constantFrom('t', 't.u', 't-u', 'v'.repeat(60), `${'v'.repeat(60)}w`, 'w'.repeat(130))
    const environments = fc.constantFrom(null, 'enva', 'local')
    const set = fc.array(fc.tuple(names, tools, environments), { maxLength: 12 })
    fc.assert(
      fc.property(fc.array(set, { maxLength: 6 }), (moments) => {
        const naming = thread()
        const known = new Map<string, string>()
        for (const moment of moments) {
          const named = naming.assign(moment.map(([server, name, environment]) => tool(server, name, environment)))
          expect(new Set(named.map(({ flat }) => flat)).size).toBe(named.length)
          expect(new Set(named.map(({ namespace, name }) => `${namespace}\0${name}`)).size).toBe(named.length)
          const owners = new Map(named.map(({ namespace, key }) => [namespace, key.name + key.environment]))
          for (const one of named) {
            const identity = JSON.stringify([one.key, one.tool])
            const text = `${one.namespace} ${one.name} ${one.flat}`
            expect(known.get(identity) ?? text).toBe(text)
            known.set(identity, text)
            expect(one.namespace.length + 2 + one.name.length).toBeLessThanOrEqual(128)
            expect(one.flat.length).toBeLessThanOrEqual(128)
            expect(owners.get(one.namespace)).toBe(one.key.name + one.key.environment)
          }
        }
      }),
    )
  })
})
