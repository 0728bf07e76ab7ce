import { describe, expect, it } from 'vitest'
import { readableName, serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { toolFindings } from './tool-findings.js'

const key = serverKey('notes', 'devbox')
const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, inputSchema: { type: 'object' }, ...more })
const told = (...tools: JsonObject[]) =>
  toolFindings(key, tools).map(({ severity, code, place }) => `${severity} ${code} ${place}`)

describe('odd tools', () => {
  it('are none where everything is in order', () => {
    expect(told(tool('add', { outputSchema: { type: 'object' }, annotations: {} }), tool('a.b-c_d'))).toEqual([])
  })

  it('are named by server with its environment, tool and field', () => {
    expect(told(tool('a'), tool('b', { inputSchema: [] }), { inputSchema: {} }, tool('a'))).toEqual([
      'error schema_not_object notes (environment devbox)/b inputSchema',
      'error tool_nameless notes (environment devbox) tools[2]',
      'error tool_duplicate notes (environment devbox)/a',
    ])
    expect(told(tool('a', { outputSchema: { type: 'object', $ref: '#' }, annotations: 'readOnly' }))).toEqual([
      'warning schema_recursive notes (environment devbox)/a outputSchema',
      'warning tool_annotations notes (environment devbox)/a annotations',
    ])
  })

  it('say under which name clients see one whose own is too long or has other characters', () => {
    for (const name of ['x'.repeat(65), 'x'.repeat(129), 'add note', '加'])
      expect(toolFindings(key, [tool(name)])[0]).toMatchObject({
        severity: 'warning',
        message: expect.stringContaining(readableName(key, name)),
      })
    expect(toolFindings(key, [tool('x'.repeat(65))])[0]?.message).toContain('most models take 64')
    expect(toolFindings(key, [tool('x'.repeat(129))])[0]?.message).toContain('the protocol allows 128')
  })
})
