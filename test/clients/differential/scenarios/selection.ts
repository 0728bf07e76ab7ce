import type { Question } from '../questions.js'
import type { Scenario } from '../scenario.js'

const ENVA = 'mcp__4398a80ccd8f__notes'
const ENVB = 'mcp__abf218f60ef8__notes'
const plugins = [
  { root: 'rootA', environment: 'enva', servers: { notes: [] } },
  { root: 'rootB', environment: 'envb', servers: { notes: [] } },
]
const count = (namespace: string): Question => ({ ask: 'call', namespace, name: 'count', arguments: {} })

/** What may be selected, and what a change of it does. */
export const selection: readonly Scenario[] = [
  {
    name: 'what can be selected',
    plan: { environments: ['enva'], plugins, shared: {} },
    course: [
      { ask: 'start' },
      { ask: 'start', environments: [] },
      { ask: 'start', environments: [{ id: 'envb', cwd: '/srv/b' }, { id: 'local' }, { id: 'enva', cwd: 'C:\\work' }] },
      { ask: 'start', environments: [{ id: 'nope' }] },
      { ask: 'start', environments: [{ id: 'enva' }, { id: 'enva' }] },
      { ask: 'start', environments: [{ id: 'enva', cwd: 'relative' }] },
      { ask: 'start', roots: [{ id: 'x', environment: 'enva', path: 'relative' }] },
      { ask: 'start', environments: [{ id: 'enva' }], roots: [{ id: '', environment: 'enva', path: '/plugins/x' }] },
      { ask: 'start', environments: [{ id: 'enva' }], roots: [{ id: 'x', environment: 'nope', path: '/plugins/x' }] },
    ],
  },
  {
    name: 'another selection from turn to turn',
    plan: { environments: ['enva', 'envb'], plugins, shared: {} },
    course: [
      { ask: 'namespaces' },
      count(ENVA),
      count(ENVB),
      { ask: 'select', environments: ['enva'] },
      { ask: 'namespaces' },
      count(ENVA),
      count(ENVB),
      { ask: 'rows' },
      { ask: 'namespaces' },
      { ask: 'select', environments: ['envb', 'enva'] },
      { ask: 'namespaces' },
      count(ENVA),
      count(ENVB),
      { ask: 'select', environments: [] },
      { ask: 'namespaces' },
      { ask: 'rows' },
      { ask: 'select', environments: ['enva', 'envb'] },
      { ask: 'namespaces' },
      count(ENVA),
      count(ENVB),
    ],
  },
]
