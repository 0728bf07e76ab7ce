import type { Question } from '../questions.js'
import type { Scenario } from '../scenario.js'
import type { PluginPlan, ServerPlan } from '../world.js'

const LIST = 'list_mcp_resources'
const READ = 'read_mcp_resource'
const URI = 'note://shared/one'

const notesOf = (root: string, environment: string, server: ServerPlan = []): PluginPlan => ({
  root,
  environment,
  servers: { notes: server },
})
const BOTH = [notesOf('rootA', 'enva'), notesOf('rootB', 'envb')]

/** Every way to mean `notes`, with and without an environment. */
const meaningNotes = (environments: readonly (string | null)[]): readonly Question[] => [
  { ask: 'function', name: LIST, arguments: {} },
  ...environments.map((environment_id): Question => {
    const notes = { server: 'notes', uri: URI }
    return { ask: 'function', name: READ, arguments: environment_id === null ? notes : { ...notes, environment_id } }
  }),
  { ask: 'rows' },
  ...environments.map((environment): Question => {
    const named = environment === null ? {} : { environment }
    return { ask: 'direct', server: 'notes', ...named, tool: 'whoami' }
  }),
]

const offered: readonly Question[] = [{ ask: 'namespaces' }, { ask: 'functions' }]

/** Who owns a name, where fewer or more than two do. */
export const owners: readonly Scenario[] = [
  {
    name: 'one environment',
    plan: { environments: ['enva'], plugins: [notesOf('rootA', 'enva')], shared: { hosted: [] } },
    course: [...offered, ...meaningNotes([null, 'enva', '', 'local', 'envb'])],
  },
  {
    name: 'one owner of two environments',
    plan: { environments: ['envb', 'enva'], plugins: [notesOf('rootA', 'enva')], shared: {} },
    course: [...offered, ...meaningNotes([null, 'enva', 'envb'])],
  },
  {
    name: 'no server at all',
    plan: { environments: ['enva', 'envb'], plugins: [], shared: {} },
    course: [...offered, { ask: 'rows' }],
  },
  {
    name: 'a plugin of the host as an environment',
    plan: {
      environments: ['local', 'enva'],
      plugins: [notesOf('rootL', 'local'), notesOf('rootA', 'enva')],
      shared: { hosted: [] },
    },
    course: [...offered, ...meaningNotes(['local', 'enva'])],
  },
  {
    name: 'a plugin in an environment that is not selected',
    plan: { environments: ['enva'], plugins: BOTH, shared: {} },
    course: [...offered, ...meaningNotes([null, 'enva', 'envb'])],
  },
  {
    name: 'a thread-wide server of the same name',
    plan: { environments: ['enva', 'envb'], plugins: BOTH, shared: { notes: [] } },
    course: [...offered, ...meaningNotes([null, 'local', 'enva', 'envb'])],
  },
  {
    name: 'a thread-wide server of the same name, switched off',
    plan: {
      environments: ['enva', 'envb'],
      plugins: BOTH,
      shared: { notes: { command: 'none', enabled: false } },
    },
    course: [...offered, ...meaningNotes([null, 'enva', 'envb'])],
  },
  {
    name: 'a thread-wide server of the same name that does not start',
    plan: { environments: ['enva', 'envb'], plugins: BOTH, shared: { notes: ['--exit'] } },
    course: [...offered, ...meaningNotes([null, 'enva', 'envb'])],
  },
  {
    name: 'two plugins of one environment with one name',
    plan: {
      environments: ['enva'],
      plugins: [
        notesOf('first', 'enva'),
        { ...notesOf('second', 'enva', ['--tool', 'second']), folder: 'enva-2' },
        { ...notesOf('first', 'enva', ['--tool', 'third']), folder: 'enva-3' },
      ],
      shared: {},
    },
    course: [...offered, ...meaningNotes(['enva'])],
  },
  {
    name: 'without the feature',
    plan: { environments: ['enva', 'envb'], plugins: BOTH, shared: { hosted: [] }, multiEnvironment: false },
    course: [...offered, ...meaningNotes([null, 'enva', 'envb'])],
  },
]
