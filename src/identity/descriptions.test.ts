import { describe, expect, it } from 'vitest'
import { namespaceDescription, withPluginNote } from './descriptions.js'
import { serverKey } from './key.js'

const scoped = { namespace: 'mcp__4398a80ccd8f__notes', key: serverKey('notes', 'enva'), multiEnvironment: true }
const shared = { namespace: 'mcp__notes', key: serverKey('notes'), multiEnvironment: true }

describe('namespace descriptions', () => {
  it('are the instructions of a thread-wide server, else a stock line', () => {
    expect(namespaceDescription({ ...shared, instructions: 'Keep notes.' })).toBe('Keep notes.')
    expect(namespaceDescription(shared)).toBe('Tools in the mcp__notes namespace.')
    expect(namespaceDescription({ ...shared, instructions: ' ' })).toBe('Tools in the mcp__notes namespace.')
  })

  it('begin with the environment of a scoped server', () => {
    expect(namespaceDescription({ ...scoped, instructions: 'Keep notes.' })).toBe(
      'Runs in environment enva.\nKeep notes.',
    )
    expect(namespaceDescription(scoped)).toBe('Runs in environment enva.')
  })

  it('leave the environment out while the feature is off', () => {
    expect(namespaceDescription({ ...scoped, multiEnvironment: false, instructions: 'Keep notes.' })).toBe(
      'Keep notes.',
    )
  })

  it('speak of the connector of a hosted app, not of the server', () => {
    const connector = { name: 'Calendar' }
    expect(namespaceDescription({ ...shared, instructions: 'Apps.', connector })).toContain('Calendar')
    expect(namespaceDescription({ ...shared, connector: { ...connector, description: 'Meets.' } })).toBe('Meets.')
  })

  it('are cut to 4,096 bytes between characters, and say so', () => {
    expect(namespaceDescription({ ...shared, instructions: 'x'.repeat(4096) })).toBe('x'.repeat(4096))
    expect(namespaceDescription({ ...shared, instructions: 'x'.repeat(4097) })).toBe(`${'x'.repeat(4084)}\n[truncated]`)
    expect(namespaceDescription({ ...shared, instructions: `x${'é'.repeat(3000)}` })).toBe(
      `x${'é'.repeat(2041)}\n[truncated]`,
    )
  })
})

describe('plugin notes', () => {
  const note = 'This tool is part of plugin `notes`.'

  it('follow a finished sentence after a space, other text after a period', () => {
    for (const end of ['.', '!', '?']) expect(withPluginNote(` Adds${end} `, ['notes'])).toBe(`Adds${end} ${note}`)
    expect(withPluginNote('Adds', ['notes'])).toBe(`Adds. ${note}`)
  })

  it('stand alone without a description, and are absent without a plugin', () => {
    expect(withPluginNote(undefined, ['notes'])).toBe(note)
    expect(withPluginNote(' \n', ['notes'])).toBe(note)
    expect(withPluginNote(' Adds', [])).toBe(' Adds')
    expect(withPluginNote(undefined, [])).toBeUndefined()
  })

  it('name several plugins in order', () => {
    expect(withPluginNote('Adds.', ['b', 'a'])).toBe('Adds. This tool is part of plugins `a`, `b`.')
  })
})
