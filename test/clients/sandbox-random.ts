import fc from 'fast-check'
import type { ProfileRow } from './sandbox-profiles.js'

/** Of the tree, and some that are not there. */
const PATHS = [
  'ws',
  'ws/sub',
  'ws/sub/in',
  'ws/.git',
  'ws/missing',
  'ws/sub/missing/deep',
  'other',
  'other/deep',
  'other/deep/er',
  'other/secret.txt',
  'tmp',
] as const
const PATTERNS = ['ws/**/*.env', 'other/*.txt', 'other/**/y.txt', 'ws/sub/*/f.txt'] as const

/** Profiles that read everything, and any entries for the tree; named by what they say. */
export function randomProfile(): fc.Arbitrary<ProfileRow> {
  const path = fc.record({
    at: fc.constantFrom(...PATHS),
    access: fc.constantFrom('read', 'write', 'write', 'deny'),
    skip: fc.boolean(),
  })
  const pattern = fc.record({ pattern: fc.constantFrom(...PATTERNS), access: fc.constant('deny') })
  const entries = fc.array(fc.oneof({ weight: 6, arbitrary: path }, { weight: 1, arbitrary: pattern }), {
    minLength: 1,
    maxLength: 6,
  })
  return fc
    .record({
      entries,
      root: fc.constantFrom('read', 'read', 'write'),
      network: fc.constantFrom('restricted', 'enabled'),
    })
    .filter((chosen) => chosen.entries.every((entry) => !isFileToWrite(entry) && !deniesStart(entry)))
    .map(row)
}

type Entry = { at: string; access: string; skip: boolean } | { pattern: string; access: string }

/** Of one file that may be written, the reference makes nothing. */
function isFileToWrite(entry: Entry): boolean {
  return 'at' in entry && entry.access === 'write' && entry.at.endsWith('.txt')
}

/** Then the command starts elsewhere, or not at all. */
function deniesStart(entry: Entry): boolean {
  return 'at' in entry && entry.access === 'deny' && entry.at === 'ws'
}

function row(chosen: { entries: readonly Entry[]; root: string; network: string }): ProfileRow {
  const named = chosen.entries.map((entry) => `${entry.access} ${'at' in entry ? entry.at : entry.pattern}`)
  return {
    name: [`${chosen.root} /`, ...named, chosen.network].join(', '),
    profile: ({ at }) => ({
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [
          { path: { type: 'special', value: { kind: 'root' } }, access: chosen.root },
          ...chosen.entries.map((entry) => ({
            path:
              'at' in entry
                ? { type: 'path', path: at(entry.at) }
                : { type: 'glob_pattern', pattern: at(entry.pattern) },
            access: entry.access,
            ...('skip' in entry && entry.skip && { missing_path_behavior: 'skip' }),
          })),
        ],
      },
      network: chosen.network,
    }),
  }
}
