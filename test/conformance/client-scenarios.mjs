import { contentFor } from './client-answers.mjs'
import { withLogins } from './client-logins.mjs'

/** What the suite wants to see of a client, by scenario; scenarios about authorization all want the same. */
const SCENARIOS = new Map([
  ['initialize', listTools],
  ['request-metadata', listTools],
  ['json-schema-ref-no-deref', listTools],
  ['tools_call', (client) => client.call('add_numbers', { a: 5, b: 3 })],
  ['elicitation-sep1034-client-defaults', (client) => client.call('test_client_elicitation_defaults', {})],
  ['sse-retry', (client) => client.call('test_reconnection', {})],
  ['sep-2322-client-request-state', askedTwice],
  ['http-standard-headers', everyListing],
  ['http-custom-headers', givenCalls],
  ['http-invalid-tool-headers', everyTool],
  ['json-schema-2020-12-preservation', echoSchema],
])

/**
 * Drives one scenario to its end.
 *
 * @param {string} name of the suite's
 * @param {{ reeve, thread, server: string, context: object, interplay: object }} parts
 * @throws when the server did not come up, or a step failed
 */
export async function driveScenario(name, parts) {
  if (name.startsWith('auth/')) return authorized(parts)
  const scenario = SCENARIOS.get(name)
  if (scenario === undefined) throw new Error(`no scenario ${name}`)
  await scenario(await connected(parts))
}

/** The client as the scenarios use it. Waits for the server. */
async function connected({ thread, server, context, interplay }) {
  await thread.client({ server })
  return {
    context,
    interplay,
    resources: thread.resources,
    prompts: thread.prompts,
    selector: { server },
    tools: async () => (await thread.step({ wait: 'all' })).tools,
    /** Calls a tool that is listed. */
    async call(name, args) {
      const step = await thread.step({ wait: 'all' })
      const tool = step.tools.find((listed) => listed.tool === name)
      if (tool === undefined) throw new Error(`no tool ${name} is listed`)
      return step.call({ namespace: tool.namespace, name: tool.name, arguments: args })
    },
  }
}

async function listTools(client) {
  await client.tools()
}

/** With another call while the first one's question is open. */
async function askedTwice(client) {
  client.interplay.beforeAnswer = () => {
    client.interplay.beforeAnswer = undefined
    return client.call('test_mrtr_unrelated', {})
  }
  await client.call('test_mrtr_echo_state', {})
  await client.call('test_mrtr_no_state', {})
  await client.call('test_mrtr_no_result_type', {})
}

async function everyListing(client) {
  for (const { tool } of await client.tools()) await client.call(tool, {})
  const { items: resources } = await client.resources.list(client.selector)
  for (const { uri } of resources) await client.resources.read({ ...client.selector, uri })
  const { items: prompts } = await client.prompts.list(client.selector)
  for (const { name } of prompts) await client.prompts.get({ ...client.selector, name })
}

async function givenCalls(client) {
  for (const { name, arguments: args } of client.context.toolCalls) await client.call(name, args)
}

async function everyTool(client) {
  for (const { tool, definition } of await client.tools()) await client.call(tool, contentFor(definition.inputSchema))
}

async function echoSchema(client) {
  const tools = await client.tools()
  const focal = tools.find(({ tool }) => tool === 'json_schema_2020_12_tool')
  await client.call('json_schema_echo', { schema: focal.definition.inputSchema })
}

/** Two uses: the second may need more than the first was granted. Each may log in on its way. */
async function authorized(parts) {
  const client = await withLogins(parts, () => connected(parts))
  const tools = await withLogins(parts, () => client.tools())
  for (const { tool } of tools) await withLogins(parts, () => client.call(tool, {}))
}
