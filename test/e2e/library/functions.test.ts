import { describe, expect, it } from 'vitest'
import type { ThreadEvent } from '../../../src/reeve.js'
import { stdioServer, TempHome } from './temp-home.js'

describe('resource functions of a step', () => {
  it('list, follow pages and read over real servers', async () => {
    using home = new TempHome(
      stdioServer('b', 'echo.mjs', ['--page-size', '1']) +
        stdioServer('a', 'echo.mjs') +
        stdioServer('c', 'silent.mjs'),
    )
    await using reeve = await home.open()
    const events: ThreadEvent[] = []
    await using thread = await reeve.startThread({ onEvent: (event) => events.push(event) })
    const step = await thread.step()
    expect(step.functions.map(({ name, strict }) => [name, strict])).toEqual([
      ['list_mcp_resources', false],
      ['list_mcp_resource_templates', false],
      ['read_mcp_resource', false],
    ])
    expect(step.functions[0]?.parameters.properties).not.toHaveProperty('environment_id')

    const { resources } = await called(step.callFunction('list_mcp_resources', '{}'))
    expect(new Set(resources.map(({ server }) => server))).toEqual(new Set(['a', 'b']))
    expect(resources.filter(({ server }) => server === 'b').map(({ uri }) => uri)).toEqual(
      resources.filter(({ server }) => server === 'a').map(({ uri }) => uri),
    )
    expect(events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'not_connected' }))

    const first = await called(step.callFunction('list_mcp_resources', { server: 'b' }))
    expect(first).toMatchObject({ server: 'b', nextCursor: '1' })
    const second = await called(step.callFunction('list_mcp_resources', { server: 'b', cursor: '1' }))
    expect([first, second].flatMap((page) => page.resources.map(({ uri }) => uri))).toEqual(
      resources
        .filter(({ server }) => server === 'b')
        .slice(0, 2)
        .map(({ uri }) => uri),
    )

    const uri = String(resources[0]?.uri)
    const { output, item } = await step.callFunction('read_mcp_resource', { server: 'b', uri, environment_id: 'any' })
    expect(JSON.parse(output)).toMatchObject({ server: 'b', uri, contents: [{ uri }] })
    expect(item).toEqual({ server: 'b', environment: null, status: 'completed' })
  })
})

interface Answer {
  readonly resources: readonly { readonly server: string; readonly uri: string }[]
}

async function called(call: Promise<{ readonly output: string; readonly error?: unknown }>): Promise<Answer> {
  const { output, error } = await call
  expect(error).toBeUndefined()
  return JSON.parse(output) as Answer
}
