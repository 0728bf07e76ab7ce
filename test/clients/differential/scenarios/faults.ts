import type { Question } from '../questions.js'
import type { Scenario } from '../scenario.js'

const ENVB = 'mcp__abf218f60ef8__notes'
const LIST = 'list_mcp_resources'
const whoami = (environment: string): Question => ({ ask: 'direct', server: 'notes', environment, tool: 'whoami' })

const NOTES_IN_BOTH: Scenario['plan'] = {
  environments: ['enva', 'envb'],
  plugins: [
    { root: 'rootA', environment: 'enva', servers: { notes: [] } },
    { root: 'rootB', environment: 'envb', servers: { notes: [] } },
  ],
  shared: {},
}

/** Servers, plugins and executors that fail, and what is left beside them. */
export const faults: readonly Scenario[] = [
  {
    name: 'servers that do not start',
    plan: {
      environments: ['enva', 'envb'],
      plugins: [
        { root: 'rootA', environment: 'enva', servers: { notes: [], codex_apps: [], 'bad name!': [] } },
        {
          root: 'rootB',
          environment: 'envb',
          servers: { exits: ['--exit'], absent: { command: '/no/such/program' }, none: { title: 'no transport' } },
        },
      ],
      shared: { gone: { command: '/no/such/program' } },
    },
    course: [
      { ask: 'namespaces' },
      { ask: 'startups' },
      { ask: 'function', name: LIST, arguments: {} },
      { ask: 'function', name: LIST, arguments: { server: 'exits', environment_id: 'envb' } },
      { ask: 'function', name: LIST, arguments: { server: 'absent', environment_id: 'envb' } },
      { ask: 'function', name: LIST, arguments: { server: 'gone' } },
      { ask: 'function', name: LIST, arguments: { server: 'none', environment_id: 'envb' } },
      { ask: 'rows' },
      { ask: 'direct', server: 'exits', environment: 'envb', tool: 'whoami' },
      { ask: 'direct', server: 'absent', environment: 'envb', tool: 'whoami' },
      { ask: 'direct', server: 'gone', tool: 'whoami' },
      { ask: 'direct', server: 'bad name!', environment: 'enva', tool: 'whoami' },
      { ask: 'direct', server: 'codex_apps', environment: 'enva', tool: 'whoami' },
    ],
  },
  {
    name: 'plugins that are broken',
    plan: {
      environments: ['enva', 'envb'],
      plugins: [
        {
          root: 'rootA',
          environment: 'enva',
          servers: {
            notes: [],
            outside: { command: process.execPath, cwd: '../outside' },
            local: { command: process.execPath, env_vars: [{ name: 'HOME', source: 'local' }] },
            token: { url: 'http://127.0.0.1:9/mcp', bearer_token_env_var: 'TOKEN' },
            header: { url: 'http://127.0.0.1:9/mcp', env_http_headers: { 'X-Token': 'TOKEN' } },
          },
        },
        { root: 'rootB', environment: 'envb', servers: { notes: [] }, manifest: '{' },
        { root: 'rootC', environment: 'envb', folder: 'envb-2', servers: { more: [] } },
      ],
      shared: {},
    },
    course: [{ ask: 'namespaces' }, { ask: 'rows' }, { ask: 'startups' }, whoami('enva'), whoami('envb')],
  },
  {
    name: 'what the host configures of a plugin',
    plan: {
      environments: ['enva', 'envb'],
      plugins: [
        { root: 'rootA', environment: 'enva', servers: { notes: [], off: [] } },
        { root: 'rootB', environment: 'envb', servers: { notes: [] } },
      ],
      shared: {},
      config: `
[plugins."rootA".mcp_servers.notes]
enabled_tools = ["whoami", "ask"]
disabled_tools = ["ask"]
[plugins."rootA".mcp_servers.off]
enabled = false
`,
    },
    course: [
      { ask: 'namespaces' },
      { ask: 'call', namespace: ENVB, name: 'ask', arguments: { q: 'still here' } },
      { ask: 'rows' },
      { ask: 'direct', server: 'notes', environment: 'enva', tool: 'ask', arguments: { q: 'x' } },
      { ask: 'direct', server: 'off', environment: 'enva', tool: 'whoami' },
    ],
  },
  {
    name: 'a plugin that is edited',
    plan: {
      environments: ['enva'],
      plugins: [{ root: 'rootA', environment: 'enva', servers: { notes: [] } }],
      shared: {},
    },
    course: [
      { ask: 'namespaces' },
      { happens: 'edit', plugin: { root: 'rootA', environment: 'enva', servers: { notes: [], more: [] } } },
      { ask: 'namespaces' },
      { ask: 'reload' },
      { ask: 'namespaces' },
      { ask: 'rows' },
      whoami('enva'),
    ],
  },
  {
    name: 'what the executor configures',
    plan: {
      environments: ['enva', 'envb'],
      plugins: [
        { root: 'rootA', environment: 'enva', servers: { notes: [], more: [] } },
        { root: 'rootB', environment: 'envb', servers: { notes: [] } },
      ],
      shared: {},
      executorConfig: {
        enva: `
[mcp_servers.notes]
url = "http://127.0.0.1:9/mcp"
[mcp_servers.pipes]
command = "none"
[plugins."rootA".mcp_servers.more]
enabled = false
`,
        envb: '[mcp_servers',
      },
    },
    course: [{ ask: 'namespaces' }, { ask: 'rows' }, whoami('envb')],
  },
  {
    name: 'an executor that is killed and comes back',
    plan: NOTES_IN_BOTH,
    course: [
      { ask: 'namespaces' },
      whoami('enva'),
      whoami('envb'),
      { happens: 'kill', environment: 'envb' },
      // Codex would keep a call to envb waiting for its whole 45 s.
      whoami('enva'),
      { happens: 'restart', environment: 'envb' },
      { ask: 'namespaces' },
      { ask: 'call', namespace: ENVB, name: 'whoami', arguments: {} },
      whoami('enva'),
      whoami('envb'),
      { ask: 'rows' },
    ],
  },
  {
    name: 'an executor whose connections are cut',
    plan: NOTES_IN_BOTH,
    course: [
      { ask: 'call', namespace: ENVB, name: 'count', arguments: {} },
      { happens: 'cut', environment: 'envb' },
      { ask: 'direct', server: 'notes', environment: 'envb', tool: 'count' },
      { happens: 'cut', environment: 'envb' },
      { ask: 'call', namespace: ENVB, name: 'count', arguments: {} },
      { ask: 'namespaces' },
      { ask: 'rows' },
      whoami('enva'),
    ],
  },
  {
    name: 'an executor that is not there',
    plan: {
      environments: ['enva', 'gone'],
      plugins: [
        { root: 'rootA', environment: 'enva', servers: { notes: [] } },
        { root: 'rootG', environment: 'gone', servers: { notes: [] } },
      ],
      shared: {},
      unreachable: ['gone'],
    },
    course: [{ ask: 'namespaces' }, { ask: 'rows' }, whoami('enva'), whoami('gone')],
  },
]
