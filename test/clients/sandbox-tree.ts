import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files that a profile is tried on: made anew for each run, since commands change them. */
export interface SandboxTree extends AsyncDisposable {
  readonly root: string
  /** `ws` is the workspace, `other` a folder beside it, `tmp` what TMPDIR names, `link` leads to `other`. */
  at(path: string): string
}

const FILES = [
  'ws/top.txt',
  'ws/.env',
  'ws/.git/config',
  'ws/sub/in/f.txt',
  'ws/sub/in/g.env',
  'other/secret.txt',
  'other/x.env',
  'other/deep/er/y.txt',
  'tmp/t.txt',
]

export async function sandboxTree(parent: string): Promise<SandboxTree> {
  const root = await mkdtemp(join(parent, 'tree-'))
  for (const file of FILES) {
    await mkdir(join(root, file, '..'), { recursive: true })
    await writeFile(join(root, file), `${file}\n`)
  }
  await symlink(join(root, 'other'), join(root, 'link'))
  await symlink('../other', join(root, 'ws', 'out'))
  return {
    root,
    at: (path) => join(root, path),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
}
