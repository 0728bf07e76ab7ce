import { describe, expect, it } from 'vitest'
import { codexNaming, readableNaming, serverKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { offer } from './offered.js'

const options = { naming: codexNaming({ multiEnvironment: true }), multiEnvironment: true, appTools: false }
const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, inputSchema: { type: 'object' }, ...more })

describe('what a step offers', () => {
  it('keeps same-named servers of two environments apart and passes each definition whole', () => {
    const definition = tool('add', { title: 'Add', 'x-vendor': { deep: [null] }, inputSchema: { $ref: '#' } })
    const { namespaces, tools } = offer(
      [
        { key: serverKey('notes', 'enva'), tools: [definition], live: true, instructions: 'Use it well.' },
        { key: serverKey('notes', 'envb'), tools: [definition], live: false },
        { key: serverKey('notes'), tools: [definition], live: true },
      ],
      options,
    )
    expect(namespaces.map(({ name, description }) => [name, description])).toEqual([
      ['mcp__4398a80ccd8f__notes', 'Runs in environment enva.\nUse it well.'],
      ['mcp__abf218f60ef8__notes', 'Runs in environment envb.'],
      ['mcp__notes', 'Tools in the mcp__notes namespace.'],
    ])
    expect(tools.map(({ definition: offered, live }) => [offered === definition, live])).toEqual([
      [true, true],
      [true, false],
      [true, true],
    ])
  })

  it('hides app tools from a model, and offers them to a client that filters for itself', () => {
    const server = {
      key: serverKey('apps'),
      live: true,
      tools: [
        tool('shown'),
        tool('app', { _meta: { ui: { visibility: ['app'] } } }),
        tool('nobody', { _meta: { ui: { visibility: [] } } }),
        tool('both', { _meta: { ui: { visibility: ['app', 'model'] } } }),
        tool('odd', { _meta: { ui: { visibility: 'app' } } }),
        tool('odder', { _meta: [1] }),
      ],
    }
    expect(offer([server], options).tools.map(({ name }) => name)).toEqual(['both', 'odd', 'odder', 'shown'])
    const all = offer([server], { ...options, naming: readableNaming, appTools: true })
    expect(all.tools.map(({ tool: raw }) => raw)).toEqual(['app', 'both', 'nobody', 'odd', 'odder', 'shown'])
    expect(all.namespaces[0]?.tools.map(({ tool: raw }) => raw)).toEqual(['both', 'odd', 'odder', 'shown'])
  })

  it('offers the first of two tools of one name, and takes names of the language for data', () => {
    const first = tool('twice', { title: 'first' })
    const { tools } = offer(
      [
        {
          key: serverKey('s'),
          live: true,
          tools: [first, tool('twice'), tool('__proto__'), tool('constructor'), { name: 3 }],
        },
      ],
      options,
    )
    expect(tools.map(({ tool: raw }) => raw)).toEqual(['__proto__', 'constructor', 'twice'])
    expect(tools[2]?.definition).toBe(first)
    expect(Object.isFrozen(tools) && Object.isFrozen(tools[0])).toBe(true)
  })
})
