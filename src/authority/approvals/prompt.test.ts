import { describe, expect, it } from 'vitest'
import { HOSTED_APPS_NAME, serverKey } from '../../identity/index.js'
import { type PromptFacts, promptMessage, promptMeta } from './prompt.js'

const facts = (some: Partial<PromptFacts>): PromptFacts => ({
  threadId: 't',
  turnId: null,
  callId: 'c',
  key: serverKey('notes'),
  tool: 'add',
  definition: { name: 'add' },
  offers: [],
  multiEnvironment: true,
  ...some,
})
const connector = { id: 'c1', name: 'Calendar', description: 'Meets', linkId: 'implicit_link::9' }

describe('a question about a call', () => {
  it('names the connector of a hosted app, and whose it is', () => {
    const app = facts({ key: serverKey(HOSTED_APPS_NAME), connector })
    expect(promptMessage(app)).toBe('Allow Calendar to run tool "add"?')
    expect(promptMeta(app)).toMatchObject({
      source: 'connector',
      connector_id: 'c1',
      connector_name: 'Calendar',
      connector_description: 'Meets',
      link_id: 'implicit_link::9',
      link_is_implicit: true,
    })
  })

  it('believes no other server that it has a connector', () => {
    const spoofed = facts({ connector })
    expect(promptMessage(spoofed)).toBe('Allow the notes MCP server to run tool "add"?')
    expect(promptMeta(spoofed)).toEqual({ codex_approval_kind: 'mcp_tool_call', tool_name: 'add' })
  })

  it('shows arguments by the byte order of their names, those named like authority and prototypes included', () => {
    const args = JSON.parse('{"z":1,"persist":"always","__proto__":{"a":1},"tool_name":"other","Z":2,"é":3}')
    const meta = promptMeta(facts({ arguments: args }))
    expect(meta.tool_name).toBe('add')
    expect(meta).not.toHaveProperty('persist')
    expect(JSON.stringify(meta.tool_params)).toBe(JSON.stringify(args))
    expect(meta.tool_params_display).toMatchObject(
      ['Z', '__proto__', 'persist', 'tool_name', 'z', 'é'].map((name) => ({ name, display_name: name })),
    )
  })

  it('leaves out what a tool does not say in the right shape', () => {
    const definition = { name: 'add', title: 5, description: ['x'], annotations: 'none' }
    expect(Object.keys(promptMeta(facts({ definition })))).toEqual(['codex_approval_kind', 'tool_name'])
  })
})
