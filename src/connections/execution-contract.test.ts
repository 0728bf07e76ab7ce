import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../protocol/index.js'
import { sameExecutionContract, withoutReadOnlyHint } from './execution-contract.js'

const TOOL: JsonObject = {
  name: 't',
  title: 'T',
  description: 'does t',
  inputSchema: { type: 'object', properties: { a: {}, b: {} } },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { a: 1 },
}
const annotated = (annotations: JsonObject): JsonObject => ({ ...TOOL, annotations })
const { annotations: _, ...BARE } = TOOL

describe('the execution contract of a tool', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['nothing differs', TOOL, TOOL],
    ['how it is presented', TOOL, { ...TOOL, title: 'U', description: 'other', icons: [], outputSchema: {} }],
    ['the order of members', TOOL, { ...TOOL, inputSchema: { properties: { b: {}, a: {} }, type: 'object' } }],
    ['missing and empty annotations', BARE, annotated({})],
    ['an annotation that is no hint', BARE, annotated({ title: 'x' })],
    [
      'a read-only hint that was not advertised',
      annotated({ openWorldHint: true }),
      annotated({ openWorldHint: true, readOnlyHint: true }),
    ],
  ])('is the same when the difference is: %s', (_what, advertised, live) => {
    expect(sameExecutionContract(advertised, live)).toBe(true)
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['name', TOOL, { ...TOOL, name: 'u' }],
    ['input schema', TOOL, { ...TOOL, inputSchema: { type: 'object' } }],
    ['metadata', TOOL, { ...TOOL, _meta: { a: 2 } }],
    ['metadata that vanished', TOOL, { ...TOOL, _meta: {} }],
    ['destructive hint', TOOL, annotated({ ...(TOOL.annotations as JsonObject), destructiveHint: true })],
    ['idempotent hint', TOOL, annotated({ ...(TOOL.annotations as JsonObject), idempotentHint: false })],
    ['open-world hint', TOOL, annotated({ ...(TOOL.annotations as JsonObject), openWorldHint: true })],
    ['read-only hint', TOOL, annotated({ ...(TOOL.annotations as JsonObject), readOnlyHint: false })],
    [
      'read-only hint that vanished',
      annotated({ readOnlyHint: true, openWorldHint: true }),
      annotated({ openWorldHint: true }),
    ],
    ['hint over no annotations', BARE, annotated({ readOnlyHint: true })],
    ['hint over empty annotations', annotated({}), annotated({ destructiveHint: false })],
  ])('is another with another %s', (_what, advertised, live) => {
    expect(sameExecutionContract(advertised, live)).toBe(false)
  })

  it('is offered from the cache without the read-only hint, and with all the rest', () => {
    expect(withoutReadOnlyHint(TOOL)).toEqual(
      annotated({ destructiveHint: false, idempotentHint: true, openWorldHint: false }),
    )
    expect(withoutReadOnlyHint(BARE)).toBe(BARE)
    expect(TOOL.annotations).toHaveProperty('readOnlyHint')
  })
})
