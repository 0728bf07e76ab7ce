// What nobody has invented yet.
import { expect } from 'vitest'
import type { JsonObject } from '../../../../src/protocol/index.js'
import { callTool, type Feature, textOf } from '../cell.js'

/** What the clients of the matrix declare: every question, tasks in both eras' ways, and things unheard of. */
export const CLIENT_CAPABILITIES: JsonObject = {
  roots: {},
  sampling: {},
  elicitation: { form: {}, url: {} },
  experimental: { 'com.example/trial': { stage: 2 } },
  extensions: { 'io.modelcontextprotocol/tasks': {}, 'com.example/client-thing': { deep: [1, { a: null }] } },
  'com.example/odd': { a: 1, b: ['c'] },
}

export const unknownContentType: Feature = {
  name: 'unknown content type',
  async check(cell) {
    const { content, unheardOf, _meta } = await callTool(cell, 'test_unknown_content')
    expect(content).toEqual([
      { type: 'com.example/hologram', depth: 3, layers: [{ at: 1 }, { at: 2 }] },
      { type: 'text', text: 'beside it', annotations: { audience: ['user'], mood: 'calm' }, origin: 'test' },
    ])
    expect(unheardOf).toEqual({ kept: true })
    expect(_meta).toMatchObject({ 'com.example/trace': { id: 'abc' } })
  },
}

export const unknownCapability: Feature = {
  name: 'unknown capability',
  async check(cell) {
    const { capabilities } = JSON.parse(textOf(await callTool(cell, 'test_client_info')))
    const { experimental, extensions, 'com.example/odd': odd } = CLIENT_CAPABILITIES
    expect(capabilities).toMatchObject({ experimental, extensions, 'com.example/odd': odd })
    // What is no server of its own has nothing to say of one server's capabilities: that takes a gateway before that server.
    await using direct = await cell.another('transparent')
    expect(direct.introduction.capabilities).toMatchObject({
      'com.example/unknown': { since: '2031-01-01', nested: { flag: true } },
      experimental: { 'com.example/experiment': { level: 3 } },
      extensions: { 'com.example/unheard-of': { setting: 'kept' } },
    })
  },
}
