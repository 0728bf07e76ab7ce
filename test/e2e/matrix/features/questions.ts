// What servers ask of clients and their users.
import { expect } from 'vitest'
import type { JsonObject } from '../../../../src/protocol/index.js'
import { type Cell, callTool, type Feature, textOf } from '../cell.js'
import { type Question, USUAL_ROOTS, usualAnswer } from '../clients/client.js'

export const sampling: Feature = {
  name: 'sampling',
  async check(cell) {
    const asked = questionsOf(cell)
    expect(textOf(await callTool(cell, 'test_sampling', { prompt: 'Why?' }))).toBe('LLM response: sampled')
    expect(asked()).toEqual([
      {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: 'Why?' } }], maxTokens: 100 },
      },
    ])
  },
}

export const roots: Feature = {
  name: 'roots',
  async check(cell) {
    const asked = questionsOf(cell)
    expect(JSON.parse(textOf(await callTool(cell, 'test_roots')))).toEqual(USUAL_ROOTS)
    expect(asked()).toMatchObject([{ method: 'roots/list' }])
  },
}

export const elicitationForm: Feature = {
  name: 'elicitation form',
  async check(cell) {
    const { client, names } = cell
    const asked = questionsOf(cell)
    expect(textOf(await callTool(cell, 'test_elicitation', { message: 'Who?' }))).toContain(
      'action=accept, content={"username":"ada","email":"ada@example.com"',
    )
    expect(asked()).toMatchObject([
      {
        method: 'elicitation/create',
        params: { message: 'Who?', requestedSchema: { required: ['username', 'email'] } },
      },
    ])
    expect(textOf(await callTool(cell, 'test_elicitation_sep1330_enums'))).toContain('action=accept')
    expect(asked().at(-1)).toMatchObject({
      params: {
        requestedSchema: { properties: { legacyEnum: { enumNames: ['Option One', 'Option Two', 'Option Three'] } } },
      },
    })
    await answering(
      cell,
      () => ({ action: 'decline' }),
      async () =>
        expect(textOf(await callTool(cell, 'test_elicitation', { message: 'Who?' }))).toContain('action=decline'),
    )
    // Several in one call, of different kinds, each answered for itself.
    expect(textOf(await callTool(cell, 'test_input_required_result_multiple_inputs'))).toBe('sampled Ada, 1 roots')
    expect(textOf(await callTool(cell, 'test_input_required_result_multi_round'))).toMatch(/^Ada likes /)
    const { contents } = await client.request('resources/read', { uri: names.uri('test://needs-input') })
    expect(contents).toMatchObject([{ text: 'Read by Ada' }])
    const prompt = names.of('test_input_required_result_prompt')
    await answering(
      cell,
      () => ({ action: 'accept', content: { context: 'this one' } }),
      async () =>
        expect(await client.request('prompts/get', { name: prompt })).toMatchObject({
          messages: [{ content: { text: 'Use this context: this one' } }],
        }),
    )
  },
}

export const elicitationUrl: Feature = {
  name: 'elicitation url',
  async check(cell) {
    const { client, combination } = cell
    const asked = questionsOf(cell)
    const before = client.heard.count
    const url = 'https://example.com/consent?state=%C3%A9'
    expect(textOf(await callTool(cell, 'test_elicitation_url', { url }))).toBe('Visit: action=accept')
    // The id, and the word that the visit is over, belong to 2025-11-25 alone.
    const elicitationId = client.era === 'old' ? expect.any(String) : undefined
    const params = { mode: 'url', message: 'Please visit the page', url }
    expect(asked()).toMatchObject([{ method: 'elicitation/create', params }])
    if (client.era === 'old') expect(asked()[0]?.params).toMatchObject({ elicitationId })
    if (client.era === 'old' && combination.server === 'old') {
      expect(await client.heard.next('notifications/elicitation/complete', before)).toEqual({
        elicitationId: asked()[0]?.params.elicitationId,
      })
    }
    await answering(
      cell,
      () => ({ action: 'cancel' }),
      async () => expect(textOf(await callTool(cell, 'test_elicitation_url'))).toBe('Visit: action=cancel'),
    )
  },
}

/** What the client was asked since now. */
function questionsOf({ client }: Cell): () => readonly Question[] {
  const before = client.asked.length
  return () => client.asked.slice(before)
}

async function answering({ client }: Cell, answer: (question: Question) => JsonObject, during: () => Promise<void>) {
  client.answer = answer
  try {
    await during()
  } finally {
    client.answer = usualAnswer
  }
}
