// What servers offer and clients fetch.
import { expect } from 'vitest'
import type { JsonObject } from '../../../../src/protocol/index.js'
import { callTool, type Feature, textOf } from '../cell.js'

const PNG = { type: 'image', data: expect.any(String), mimeType: 'image/png' }

export const tools: Feature = {
  name: 'tools',
  async check(cell) {
    const { client, names } = cell
    const listed = byName((await client.request('tools/list')).tools)
    expect(listed.get(names.of('test_vendor_schema'))).toMatchObject({
      inputSchema: {
        'x-vendor-root': { widget: 'form' },
        properties: { colour: { 'x-vendor-widget': 'colour-picker' } },
      },
      icons: [{ src: 'https://example.com/icon.png', theme: 'dark' }],
      'com.example/rank': 7,
      _meta: { 'com.example/team': 'colours' },
    })
    expect(listed.get(names.of('json_schema_2020_12_tool'))).toMatchObject({
      inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema' },
    })
    const args = { text: 'ä', list: [1, null, { deep: true }] }
    expect(JSON.parse(textOf(await callTool(cell, 'test_echo', args))).arguments).toEqual(args)
    expect((await callTool(cell, 'test_image_content')).content).toEqual([PNG])
    expect(await callTool(cell, 'test_error_handling')).toMatchObject({ isError: true })
    await expect(callTool(cell, 'no_such_tool')).rejects.toMatchObject({ code: -32602 })
  },
}

export const structuredOutput: Feature = {
  name: 'structured output',
  async check(cell) {
    const listed = byName((await cell.client.request('tools/list')).tools)
    expect(listed.get(cell.names.of('test_structured_output'))).toMatchObject({
      title: 'Structured output',
      outputSchema: { required: ['temperature', 'sky'] },
      annotations: { readOnlyHint: true, 'com.example/hint': 'kept' },
    })
    const { structuredContent, content } = await callTool(cell, 'test_structured_output')
    expect(structuredContent).toEqual({ temperature: 21.5, sky: 'clear' })
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
  },
}

export const resources: Feature = {
  name: 'resources',
  async check(cell) {
    const { client, names } = cell
    const listed = ((await client.request('resources/list')).resources ?? []) as JsonObject[]
    const byUri = new Map(listed.map((resource) => [resource.uri, resource]))
    expect(byUri.get(names.uri('test://static-text'))).toMatchObject({ size: 48, annotations: { priority: 0.5 } })
    expect(byUri.get(names.uri('test://watched-resource'))).toMatchObject({ 'com.example/watch': true })
    const read = async (uri: string) => (await client.request('resources/read', { uri })).contents
    for (const uri of ['test://static-text', 'ui://full/dashboard.html'].map((uri) => names.uri(uri))) {
      expect(await read(uri)).toMatchObject([{ uri, text: expect.any(String) }])
    }
    expect(await read(names.uri('test://static-binary'))).toMatchObject([{ mimeType: 'image/png', blob: PNG.data }])
    const { content } = await callTool(cell, 'test_resource_links')
    const [link, app, embedded] = content as JsonObject[]
    expect(embedded).toMatchObject({ resource: { uri: link?.uri } })
    for (const uri of [link?.uri, app?.uri]) expect(await read(String(uri))).toMatchObject([{ uri }])
    const missing = names.uri('test://no-such-resource')
    const refused = { code: client.era === 'old' && cell.combination.server === 'new' ? -32002 : -32602 }
    await expect(read(missing)).rejects.toMatchObject(refused)
  },
}

export const templates: Feature = {
  name: 'templates',
  async check({ client, names }) {
    const { resourceTemplates } = await client.request('resources/templates/list')
    const template = names.uri('test://template/{id}/data')
    expect(resourceTemplates).toMatchObject([{ uriTemplate: template, name: 'template-data' }])
    const uri = template.replace('{id}', 'a%2Fb')
    const { contents } = await client.request('resources/read', { uri })
    expect(contents).toMatchObject([{ uri, text: expect.stringContaining('Data for ID: a%2Fb') }])
  },
}

export const prompts: Feature = {
  name: 'prompts',
  async check({ client, names }) {
    const listed = byName((await client.request('prompts/list')).prompts)
    expect(listed.get(names.of('test_prompt_with_arguments'))).toMatchObject({
      arguments: [{ name: 'arg1', required: true }, { name: 'arg2' }],
    })
    const get = async (name: string, args: JsonObject = {}) =>
      (await client.request('prompts/get', { name: names.of(name), arguments: args })).messages
    expect(await get('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' })).toMatchObject([
      { role: 'user', content: { text: "Prompt with arguments: arg1='a', arg2='b'" } },
    ])
    expect(await get('test_prompt_with_embedded_resource', { resourceUri: 'test://example-resource' })).toMatchObject([
      { content: { resource: { uri: names.uri('test://example-resource') } } },
      { content: { type: 'text' } },
    ])
    expect(await get('test_prompt_with_image')).toMatchObject([{ content: PNG }, {}])
    await expect(get('no_such_prompt')).rejects.toMatchObject({ code: -32602 })
  },
}

export const completion: Feature = {
  name: 'completion',
  async check({ client, names }) {
    const complete = (ref: JsonObject) =>
      client.request('completion/complete', { ref, argument: { name: 'arg1', value: 'par' } })
    const expected = { completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false } }
    const prompt = { type: 'ref/prompt', name: names.of('test_prompt_with_arguments') }
    expect(await complete(prompt)).toMatchObject(expected)
    const resource = { type: 'ref/resource', uri: names.uri('test://template/{id}/data') }
    expect(await complete(resource)).toMatchObject(expected)
  },
}

function byName(items: JsonObject[string] | undefined): ReadonlyMap<string, JsonObject> {
  return new Map(((items ?? []) as JsonObject[]).map((item) => [String(item.name), item]))
}
