import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { qualifyContents, qualifyPromptResult, qualifyToolApp, qualifyToolResult } from './content.js'

const key = serverKey('notes', 'devbox')

describe('URIs in what servers send', () => {
  it('are qualified in links and embedded resources of tool results, beside untouched neighbours', () => {
    const text = { type: 'text', text: 'file:///a stays in text' }
    const link = { type: 'resource_link', uri: 'file:///a', name: 'a', 'x-more': [1] }
    const embedded = { type: 'resource', resource: { uri: 'ui://card', text: 't' }, annotations: { priority: 1 } }
    const result: JsonObject = {
      content: [text, link, embedded],
      structuredContent: { uri: 'file:///a' },
      isError: true,
    }
    const qualified = qualifyToolResult(key, result)
    expect(qualified).toEqual({
      content: [
        text,
        { ...link, uri: 'reeve://notes@devbox/file:///a' },
        { ...embedded, resource: { uri: 'ui://reeve.notes@devbox/card', text: 't' } },
      ],
      structuredContent: { uri: 'file:///a' },
      isError: true,
    })
    expect(Object.keys(qualified)).toEqual(Object.keys(result))
  })

  it.each<JsonObject>([
    {},
    { content: 'no list' },
    { content: [] },
    { content: [null, 7, 'x', { type: 'resource' }, { type: 'resource_link' }, { type: 'resource', resource: [] }] },
    { content: [{ type: 'resource_link', uri: 7 }] },
    { content: [{ type: 'text', text: 'x' }] },
  ])('leave %j as it is', (result) => {
    expect(qualifyToolResult(key, result)).toEqual(result)
  })

  it('are not looked for where nothing can be: a plain result is passed on by reference', () => {
    const result: JsonObject = { content: [{ type: 'text', text: 'x' }] }
    expect(qualifyToolResult(key, result)).toBe(result)
  })

  it('are qualified in prompt messages, with one block or several', () => {
    const link = { type: 'resource_link', uri: 'x:1' }
    const result: JsonObject = {
      messages: [{ role: 'user', content: link }, { role: 'user', content: [link] }, 'odd', { role: 'assistant' }],
      description: 'kept',
    }
    const uri = 'reeve://notes@devbox/x:1'
    expect(qualifyPromptResult(key, result)).toEqual({
      messages: [
        { role: 'user', content: { ...link, uri } },
        { role: 'user', content: [{ ...link, uri }] },
        'odd',
        { role: 'assistant' },
      ],
      description: 'kept',
    })
    expect(qualifyPromptResult(key, { messages: 7 })).toEqual({ messages: 7 })
  })

  it('are qualified in the contents of a read', () => {
    expect(qualifyContents(key, { contents: [{ uri: 'x:1', blob: '' }, null], _meta: { a: 1 } })).toEqual({
      contents: [{ uri: 'reeve://notes@devbox/x:1', blob: '' }, null],
      _meta: { a: 1 },
    })
  })

  it("are qualified where a tool names its app, and its definition stays the server's", () => {
    const definition: JsonObject = {
      name: 'show',
      _meta: {
        ui: { resourceUri: 'ui://pie', visibility: ['app'] },
        'ui/resourceUri': 'ui://pie',
        'openai/outputTemplate': 'ui://widget/pie.html',
        other: 'ui://pie',
      },
    }
    const before = structuredClone(definition)
    expect(qualifyToolApp(key, definition)._meta).toEqual({
      ui: { resourceUri: 'ui://reeve.notes@devbox/pie', visibility: ['app'] },
      'ui/resourceUri': 'ui://reeve.notes@devbox/pie',
      'openai/outputTemplate': 'ui://reeve.notes@devbox/widget/pie.html',
      other: 'ui://pie',
    })
    expect(definition).toEqual(before)
    for (const plain of [{ name: 'x' }, { name: 'x', _meta: { ui: 'odd' } }, { name: 'x', _meta: [] }]) {
      expect(qualifyToolApp(key, plain as JsonObject)).toBe(plain)
    }
  })

  it('do not turn members of hostile names into prototypes', () => {
    const result = JSON.parse(
      '{"content":[{"type":"resource_link","uri":"x:1","__proto__":{"polluted":true}}],"__proto__":1}',
    )
    const qualified = qualifyToolResult(key, result)
    expect(JSON.stringify(qualified)).toBe(
      '{"content":[{"type":"resource_link","uri":"reeve://notes@devbox/x:1","__proto__":{"polluted":true}}],"__proto__":1}',
    )
  })
})
