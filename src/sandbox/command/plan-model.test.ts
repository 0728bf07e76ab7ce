import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { FileSystemEntry } from '../../permissions/index.js'
import { makePlan } from './make-plan.js'
import { isWithin } from './within.js'

/** Folders of the tree, each with a file `f`. */
const FOLDERS = ['', 'a', 'b', 'a/a', 'a/b', 'b/a', 'a/a/a', 'a/a/b', 'a/b/a']
const ACCESSES = ['read', 'write', 'deny'] as const
type Access = (typeof ACCESSES)[number]

let root: string
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'reeve-plan-model-')))
  for (const folder of FOLDERS) {
    await mkdir(join(root, folder), { recursive: true })
    await writeFile(join(root, folder, 'f'), '')
  }
})
afterAll(() => rm(root, { recursive: true }))

const at = (path: string) => (path === '' ? root : join(root, path))
const PATHS = FOLDERS.flatMap((folder) => [folder, join(folder, 'f')])

/** What the entries say of a path, read from the top: the deeper counts; at one path `deny`, `write`, `read` in this order. */
function allowed(
  path: string,
  entries: ReadonlyMap<string, readonly Access[]>,
  base: Access | undefined,
): Access | 'none' {
  let access: Access | 'none' = base === undefined || base === 'deny' ? 'none' : base
  for (const folder of ancestors(path)) {
    const here = entries.get(folder)
    const counts = (['deny', 'write', 'read'] as const).find((one) => here?.includes(one))
    if (counts !== undefined && !(counts === 'read' && access === 'deny')) access = counts
  }
  return access
}

function ancestors(path: string): readonly string[] {
  return path === '/' ? ['/'] : [...ancestors(dirname(path)), path]
}

it('allows what the entries say, in any tree of them', async () => {
  const one = fc.record({ path: fc.constantFrom(...PATHS), access: fc.constantFrom(...ACCESSES) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(one, { maxLength: 8 }),
      fc.option(fc.constantFrom(...ACCESSES), { nil: undefined }),
      async (chosen, base) => {
        const named = new Map<string, readonly Access[]>()
        for (const { path, access } of chosen) named.set(at(path), [...(named.get(at(path)) ?? []), access])
        const entries: FileSystemEntry[] = chosen.map(({ path, access }) => ({
          path: { type: 'path', path: at(path) },
          access,
        }))
        if (base !== undefined) entries.unshift({ path: { type: 'special', value: { kind: 'root' } }, access: base })
        const planning = makePlan({
          policy: { type: 'restricted', entries },
          network: false,
          cwd: root,
          tmpdir: undefined,
          readableRoots: [],
          hidden: [],
          platformFolders: [],
        })
        const start = allowed(root, named, base)
        if (start === 'none' || start === 'deny') {
          await expect(planning).rejects.toThrow(/where it would start/)
          return
        }
        const plan = await planning
        for (const path of PATHS.map(at)) {
          const rule = plan.rules.filter((candidate) => isWithin(path, candidate.path)).at(-1)
          expect(rule?.kind ?? plan.base, path).toBe(allowed(path, named, base))
        }
      },
    ),
    { numRuns: 400 },
  )
})
