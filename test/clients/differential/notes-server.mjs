// The server of the differential run. It tells in which folder it runs, which is how an answer shows the environment that gave it.
//   node notes-server.mjs [--tool NAME]… [--instructions TEXT] [--hidden NAME] [--page-size N] [--exit] [--pids FILE]
import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { answer, readFrames, refuse } from '../../fixtures/stdio/frames.mjs'

const { values: options } = parseArgs({
  options: {
    tool: { type: 'string', multiple: true, default: [] },
    hidden: { type: 'string', multiple: true, default: [] },
    instructions: { type: 'string' },
    'page-size': { type: 'string', default: '0' },
    exit: { type: 'boolean', default: false },
    pids: { type: 'string' },
  },
})
let counted = 0
const place = basename(process.cwd())
const text = (value) => ({ content: [{ type: 'text', text: value }] })

const TOOLS = {
  whoami: {
    description: 'Tells the folder it runs in',
    inputSchema: { type: 'object', properties: { note: { type: 'string' }, environment_id: { type: 'string' } } },
    annotations: { readOnlyHint: true },
    run: (args) => text(JSON.stringify({ place, ...args })),
  },
  ask: {
    description: 'Answers in a structure.',
    inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
    annotations: { readOnlyHint: true },
    run: ({ q }) => ({ ...text('see the structure'), structuredContent: { place, q } }),
  },
  wipe: {
    description: 'Never works',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    run: () => ({ ...text(`nothing to wipe in ${place}`), isError: true }),
  },
  count: {
    description: 'Counts its calls in this process',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    run: () => {
      counted += 1
      return text(`${counted} in ${place}`)
    },
  },
  refuse: {
    description: 'Is refused by the server',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    run: () => {
      throw { code: -32050, message: `refused in ${place}` }
    },
  },
}
const more = (names, definition) =>
  Object.fromEntries(names.map((name) => [name, { ...definition, run: () => text(`${name} of ${place}`) }]))
const tools = new Map(
  Object.entries({
    ...TOOLS,
    ...more(options.tool, { inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }),
    ...more(options.hidden, { inputSchema: { type: 'object' }, _meta: { ui: { visibility: ['app'] } } }),
  }),
)
const resources = [
  {
    uri: 'note://shared/one',
    name: 'one',
    title: 'One',
    description: `the first of ${place}`,
    mimeType: 'text/plain',
  },
  { uri: `note://${place}/two`, name: 'two', mimeType: 'text/plain' },
]
const templates = [{ uriTemplate: `note://${place}/{id}`, name: 'tpl', description: `a note of ${place}` }]

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'notes', title: 'Notes', version: '1.0.0' },
    ...(options.instructions !== undefined && { instructions: options.instructions }),
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [...tools].map(([name, { run: _run, ...definition }]) => ({ name, ...definition })) }),
  'tools/call': ({ name, arguments: args = {} }) => {
    const tool = tools.get(name)
    if (tool === undefined) throw { code: -32602, message: `no tool '${name}'` }
    return tool.run(args)
  },
  'resources/list': ({ cursor }) => page('resources', resources, cursor),
  'resources/templates/list': ({ cursor }) => page('resourceTemplates', templates, cursor),
  'resources/read': ({ uri }) => {
    if (uri !== 'note://shared/one' && !uri.startsWith(`note://${place}/`))
      throw { code: -32002, message: `no resource '${uri}' in ${place}` }
    return { contents: [{ uri, mimeType: 'text/plain', text: `${uri} of ${place}` }] }
  },
}

if (options.pids !== undefined) appendFileSync(options.pids, `${process.pid}\n`)
if (options.exit) process.exit(7)
readFrames(({ id, method, params = {} }) => {
  if (id === undefined || method === undefined) return
  if (!Object.hasOwn(methods, method)) return refuse(id, -32601, `no method '${method}'`)
  try {
    answer(id, methods[method](params))
  } catch (error) {
    refuse(id, error.code ?? -32603, error.message)
  }
})

function page(member, items, cursor) {
  const size = Number(options['page-size']) || items.length
  const start = Number(cursor ?? 0)
  const end = start + size
  return { [member]: items.slice(start, end), ...(end < items.length && { nextCursor: String(end) }) }
}
