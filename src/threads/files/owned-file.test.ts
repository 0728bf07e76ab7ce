import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttpClient, type EnvironmentFiles, LocalEnvironment } from '../../environments/index.js'
import { findOwned, type OwnedFiles } from './owned-file.js'

let folder: string
let local: LocalEnvironment
let file: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-owned-')))
  local = new LocalEnvironment({ home: folder, http: createHttpClient({ env: {} }) })
  file = join(folder, 'a.txt')
  writeFileSync(file, 'abc')
  // Of long ago: the clock of a file system may tick but a few times in the length of a test.
  utimesSync(file, 1, 1)
})
afterEach(async () => {
  await local.close()
  rmSync(folder, { recursive: true, force: true })
})

function owned(given: { readonly limit?: number; readonly files?: EnvironmentFiles } = {}): OwnedFiles {
  const { limit, files = local.files } = given
  const environment = { id: local.id, files, pathStyle: () => local.pathStyle() }
  const authority = { profile: null, cwd: folder, workspaceRoots: [folder] }
  return { environment, authority, ...(limit !== undefined && { limit }) }
}

/** The local files, with something that happens right before the bytes are read, or right after. */
function meddled(when: 'before' | 'after', what: () => void): EnvironmentFiles {
  return {
    ...local.files,
    readFile: async (path, options) => {
      if (when === 'before') what()
      const bytes = await local.files.readFile(path, options)
      if (when === 'after') what()
      return bytes
    },
  }
}

function becomesLink(): void {
  renameSync(file, `${file}.old`)
  symlinkSync(`${file}.old`, file)
}

const find = (path: string, files = owned()) => findOwned(path, files, 'p/t file', undefined)

describe('a file that a model names', () => {
  it('does not look for what no system could open', async () => {
    for (const path of ['a/'.repeat(500_000), `${folder}/${'/a'.repeat(500_000)}`])
      await expect(find(path)).rejects.toMatchObject({
        code: 'file_unreadable',
        message: expect.stringContaining('more than 4096 characters'),
      })
  })

  it('is found by an absolute path, and by one in the folder of its environment', async () => {
    for (const path of [file, 'a.txt', './x/../a.txt']) {
      const found = await find(path)
      expect({ name: found.name, size: found.size }).toEqual({ name: 'a.txt', size: 3 })
      expect(String(await found.read())).toBe('abc')
    }
  })

  it.each([
    ['grows', 'before', () => appendFileSync(file, 'd')],
    ['grows', 'after', () => appendFileSync(file, 'd')],
    ['is overwritten', 'before', () => writeFileSync(file, 'xyz')],
    ['becomes a link', 'after', becomesLink],
  ] as const)('is not taken when it %s meanwhile (%s it is read)', async (_, when, what) => {
    const found = await find(file, owned({ files: meddled(when, what) }))
    await expect(found.read()).rejects.toMatchObject({ code: 'file_changed', place: 'p/t file' })
  })

  it.each(['before', 'after'] as const)('is not taken when it goes %s it is read', async (when) => {
    const found = await find(file, owned({ files: meddled(when, () => unlinkSync(file)) }))
    await expect(found.read()).rejects.toMatchObject({ code: 'file_unreadable' })
  })

  it('is not taken when its folder becomes a link to another one', async () => {
    for (const name of ['in', 'other']) mkdirSync(join(folder, name))
    for (const name of ['in', 'other']) writeFileSync(join(folder, name, 'b.txt'), name)
    const swap = () => {
      renameSync(join(folder, 'in'), join(folder, 'was'))
      symlinkSync(join(folder, 'other'), join(folder, 'in'))
    }
    const found = await find('in/b.txt', owned({ files: meddled('before', swap) }))
    await expect(found.read()).rejects.toMatchObject({ code: 'file_changed' })
  })

  it('is not taken when it is larger than its limit, also when that shows only while it is read', async () => {
    await expect(find(file, owned({ limit: 2 }))).rejects.toMatchObject({ code: 'file_too_large' })
    const found = await find(file, owned({ limit: 3, files: meddled('before', () => appendFileSync(file, 'defg')) }))
    await expect(found.read()).rejects.toMatchObject({ code: 'file_too_large' })
  })

  it('is not looked for under a profile whose folders are nowhere', async () => {
    const { environment } = owned()
    const profile = { type: 'disabled' }
    const nowhere = { environment, authority: { profile, cwd: undefined, workspaceRoots: [] } }
    await expect(find(file, nowhere)).rejects.toMatchObject({ code: 'file_unreadable' })
  })
})
