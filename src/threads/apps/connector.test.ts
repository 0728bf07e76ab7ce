import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../protocol/index.js'
import { connectorNames, connectorOf, titledTool, withoutConnector } from './connector.js'

const tool = (name: string, meta: JsonValue, more = {}) => ({ name, _meta: meta, ...more })
const names = (name: string, meta: JsonValue) => connectorNames(tool(name, meta), name)

describe('the connector of a tool', () => {
  it('is what its members say, trimmed, by the first name that each has', () => {
    expect(
      connectorOf(
        tool('t', {
          connector_id: ' c1 ',
          connector_name: ' ',
          connector_display_name: 'Shown',
          connectorDescription: 'About.\n',
          _codex_apps: { link_id: 'l1' },
        }),
      ),
    ).toEqual({ id: 'c1', name: 'Shown', description: 'About.', linkId: 'l1' })
    expect(connectorOf({ name: 't' })).toEqual({})
  })

  it.each([
    ['calendar_create', { connector_id: 'k9', connector_name: 'Calendar' }, 'codex_apps__calendar', '_create'],
    ['Calendar-Create', { connector_id: 'k9', connector_name: 'Calendar' }, 'codex_apps__calendar', '_create'],
    ['c1_create', { connector_id: 'C1', connector_name: 'Calendar' }, 'codex_apps__calendar', '_create'],
    ['calendar', { connector_id: 'k9', connector_name: 'Calendar' }, 'codex_apps__calendar', 'calendar'],
    ['create', { connector_id: 'k9', connector_name: '__My  Apps!' }, 'codex_apps__my__apps', 'create'],
    ['create', { connector_id: 'k9', connector_name: '日本' }, 'codex_apps__app', 'create'],
    ['k9_create', { connector_id: 'k9' }, 'codex_apps', '_create'],
    ['日本', {}, 'codex_apps', 'app'],
  ] as const)('gives %s of %j its names', (name, meta, rawNamespace, callableName) => {
    expect(names(name, meta)).toMatchObject({ rawNamespace, callableName })
  })

  it('leaves the title what it is beside the connector’s name', () => {
    const meta = { connector_name: 'Calendar' }
    expect(titledTool(tool('t', meta, { title: 'Calendar_Create' }))).toMatchObject({ title: 'Create' })
    const other = tool('t', meta, { title: 'Create' })
    expect(titledTool(other)).toBe(other)
  })

  it('is nothing that other servers can say', () => {
    const told = tool('t', { connector_id: 'c', connectorDescription: 'x', kept: 1 })
    expect(withoutConnector(told)).toEqual(tool('t', { kept: 1 }))
    for (const meta of [{ kept: 1 }, null, [], 'x']) {
      const other = tool('t', meta)
      expect(withoutConnector(other)).toBe(other)
    }
  })

  it('is read from whatever a server sends', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (name, meta) => {
        const { rawNamespace, callableName } = names(name, meta as JsonValue)
        expect(`${rawNamespace}${callableName}`).toMatch(/^[a-z0-9_]+$/)
      }),
    )
  })
})
