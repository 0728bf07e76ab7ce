import { describe, expect, it } from 'vitest'
import { HookContext } from './hook-context.js'

describe('what hooks say beside a result', () => {
  it('stands behind the content of the server, marked, and changes nothing else', () => {
    const context = new HookContext()
    const result = {
      content: [{ type: 'text', text: 'done' }],
      structuredContent: { n: 1 },
      isError: false,
      _meta: { a: 1 },
      unknown: [2],
    }
    expect(context.beside(result)).toBe(result)
    context.add('one')
    context.add('two')
    expect(context.beside(result)).toEqual({
      ...result,
      content: [
        { type: 'text', text: 'done' },
        { type: 'text', text: 'one', _meta: { 'reeve/hook_context': true } },
        { type: 'text', text: 'two', _meta: { 'reeve/hook_context': true } },
      ],
    })
  })

  it('stands in the metadata of what has no content yet', () => {
    const context = new HookContext()
    context.add('one')
    expect(context.beside({ task: { taskId: 't' }, _meta: { a: 1 } })).toEqual({
      task: { taskId: 't' },
      _meta: { a: 1, 'reeve/hook_context': ['one'] },
    })
  })
})
