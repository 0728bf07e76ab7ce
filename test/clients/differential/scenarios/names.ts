import type { Scenario } from '../scenario.js'

const LONG = { l: 'l'.repeat(50), t: 't'.repeat(60), n: 'n'.repeat(120), o: 'o'.repeat(105) }

/** Names that collide, are too long, or hold what no name of a tool may hold. */
export const names: readonly Scenario[] = [
  {
    name: 'names that look alike',
    plan: {
      environments: ['enva'],
      plugins: [
        {
          root: 'rootA',
          environment: 'enva',
          servers: {
            'a.b': [],
            'a-b': [],
            a_b: [],
            notes: [],
            mcp__pre: ['--tool', 'two-three', '--tool', 'two_three', '--tool', 'weird.name/with'],
          },
        },
      ],
      shared: { 'c.d': ['--tool', 'x.y'], 'c-d': [], '4398a80ccd8f__notes': [], Zed: [], zed: [] },
    },
    course: [
      { ask: 'namespaces' },
      { ask: 'call', namespace: 'mcp__4398a80ccd8f__a_b_45e86a065fd8', name: 'whoami', arguments: {} },
      { ask: 'call', namespace: 'mcp__c_d_3ee7b9fc9697', name: 'x_y', arguments: {} },
      { ask: 'call', namespace: 'mcp__4398a80ccd8f__notes_d8be390547a4', name: 'whoami', arguments: {} },
      { ask: 'call', namespace: 'mcp__4398a80ccd8f__notes_1ecd3bd51d9c', name: 'whoami', arguments: {} },
      { ask: 'call', namespace: 'mcp__4398a80ccd8f__notes', name: 'whoami', arguments: {} },
    ],
  },
  {
    name: 'names that are too long',
    plan: {
      environments: ['enva'],
      plugins: [
        {
          root: 'rootA',
          environment: 'enva',
          servers: { [LONG.l]: ['--tool', LONG.t], [LONG.n]: [], [LONG.o]: ['--tool', 'x'] },
        },
      ],
      shared: {},
    },
    course: [
      { ask: 'namespaces' },
      {
        ask: 'call',
        namespace: `mcp__4398a80ccd8f__${LONG.l}`,
        name: `${'t'.repeat(44)}_e5aacc620792`,
        arguments: {},
      },
    ],
  },
]
