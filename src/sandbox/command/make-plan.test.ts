import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FileSystemEntry, parsePermissionProfile } from '../../permissions/index.js'
import { locate } from './locate.js'
import { makePlan } from './make-plan.js'

const ROOT = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' }

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'reeve-plan-')))
  await mkdir(join(root, 'ws', 'sub', 'in'), { recursive: true })
  await mkdir(join(root, 'other'))
  await writeFile(join(root, 'other', 'a.txt'), '')
})
afterEach(() => rm(root, { recursive: true }))

const at = (path: string) => join(root, path)
const path = (name: string, access: string) => ({ path: { type: 'path', path: at(name) }, access })

async function plan(
  entries: readonly unknown[],
  more: { tmpdir?: string; readableRoots?: string[]; cwd?: string; hidden?: string[] } = {},
) {
  const profile = parsePermissionProfile({
    type: 'managed',
    file_system: { type: 'restricted', entries },
    network: 'restricted',
  })
  if (profile.type !== 'managed' || profile.file_system.type !== 'restricted') throw new Error('not restricted')
  const made = await makePlan({
    policy: { type: 'restricted', entries: profile.file_system.entries satisfies readonly FileSystemEntry[] },
    network: false,
    cwd: more.cwd ?? at('ws'),
    tmpdir: more.tmpdir,
    readableRoots: more.readableRoots ?? [],
    platformFolders: ['/usr'],
    hidden: more.hidden ?? [],
  })
  return {
    ...made,
    rules: made.rules.map((rule) => `${rule.kind} ${rule.path.replace(root, '')}`),
  }
}

const refusal = (place: string, reason: RegExp) =>
  expect.objectContaining({ code: 'sandbox_unenforceable', place, message: expect.stringMatching(reason) })

describe('makePlan', () => {
  it('protects folders in each root, and keeps missing ones from being made', async () => {
    await mkdir(at('ws/.git'))
    const { base, rules } = await plan([ROOT, path('ws', 'write')])
    expect(base).toBe('read')
    expect(rules).toEqual(['write /ws', 'read /ws/.git', 'absent /ws/.agents', 'absent /ws/.codex', 'absent /ws/.aws'])
  })

  it('lets the most specific entry count, whatever the order', async () => {
    await mkdir(at('ws/.git'))
    const entries = [
      path('ws/sub/in', 'write'),
      path('ws/.git', 'write'),
      path('ws/sub', 'deny'),
      path('ws', 'write'),
      ROOT,
    ]
    const one = await plan(entries)
    const other = await plan([...entries].reverse())
    expect(one.rules).toEqual(
      expect.arrayContaining(['write /ws', 'deny /ws/sub', 'write /ws/sub/in', 'write /ws/.git']),
    )
    expect([...one.rules].sort()).toEqual([...other.rules].sort())
    expect(one.rules.indexOf('write /ws')).toBeLessThan(one.rules.indexOf('deny /ws/sub'))
    expect(one.rules.indexOf('deny /ws/sub')).toBeLessThan(one.rules.indexOf('write /ws/sub/in'))
  })

  it('does not open what is denied for reading', async () => {
    const entries = [ROOT, path('other', 'deny'), path('other/a.txt', 'read')]
    expect((await plan(entries, { readableRoots: [at('other')] })).rules).toEqual(['deny /other'])
  })

  it('denies both names of a file, and the file that a matching link leads to', async () => {
    await symlink(at('other'), at('link'))
    expect((await plan([ROOT, path('link/a.txt', 'deny')])).rules).toEqual(['deny /other/a.txt'])
    await symlink('a.txt', at('other/b.env'))
    const pattern = { path: { type: 'glob_pattern', pattern: at('other/*.env') }, access: 'deny' }
    expect((await plan([ROOT, pattern])).rules).toEqual(['deny /other/a.txt'])
  })

  it('refuses a path through a link that a command could turn elsewhere', async () => {
    await symlink('../other', at('ws/out'))
    for (const access of ['read', 'deny', 'write']) {
      await expect(plan([ROOT, path('ws', 'write'), path('ws/out', access)])).rejects.toThrow(
        refusal('permissionProfile.file_system.entries[2]', /symbolic link in a folder that may be written to/),
      )
    }
    await symlink('/nowhere', at('ws/.codex'))
    await expect(plan([ROOT, path('ws', 'write')])).rejects.toThrow(refusal(expect.any(String), /\.codex/))
  })

  it('protects the repository that a `.git` file names', async () => {
    await writeFile(at('ws/.git'), `gitdir: ../other\n`)
    const { rules } = await plan([ROOT, path('ws', 'write'), path('.', 'write')], {})
    expect(rules).toEqual(expect.arrayContaining(['read /ws/.git', 'read /other']))
  })

  it('gives what grants nothing no rule', async () => {
    const special = (kind: string) => ({ path: { type: 'special', value: { kind } }, access: 'write' })
    for (const directory of [undefined, '', 'relative', at('nowhere'), '/', '//']) {
      const rules = (await plan([ROOT, special('tmpdir')], directory === undefined ? {} : { tmpdir: directory })).rules
      expect(rules).toEqual([])
    }
    expect((await plan([ROOT, path('nowhere', 'write'), path('nowhere-too', 'deny')])).rules).toEqual([])
  })

  it('refuses to leave out what would take something away', async () => {
    const unknown = { path: { type: 'special', value: { kind: 'unknown', path: ':later' } } }
    const place = 'permissionProfile.file_system.entries[1]'
    await expect(plan([ROOT, { ...unknown, access: 'deny' }])).rejects.toThrow(refusal(place, /not known here/))
    await expect(plan([path('ws', 'write'), { ...unknown, access: 'read' }])).rejects.toThrow(
      refusal(place, /not known here/),
    )
    expect((await plan([ROOT, { ...unknown, access: 'read' }])).rules).toEqual([])
    expect((await plan([ROOT, { ...unknown, access: 'write' }])).rules).toEqual([])
    const windows = { path: { type: 'path', path: 'C:\\x' }, access: 'deny' }
    await expect(plan([ROOT, windows])).rejects.toThrow(refusal(place, /no path of this system/))
  })

  it('holds the folders on the way to what is denied, so that it is not moved away with them', async () => {
    await writeFile(at('ws/sub/in/key'), '')
    const rulesFor = async (...entries: object[]) => {
      const { rules } = await plan([ROOT, path('ws', 'write'), ...entries])
      return rules.filter((rule) => /sub/.test(rule))
    }
    const held = ['write /ws/sub', 'write /ws/sub/in']
    expect(await rulesFor(path('ws/sub/in/key', 'deny'))).toEqual([...held, 'deny /ws/sub/in/key'])
    expect(await rulesFor(path('ws/sub/in/new/x', 'deny'))).toEqual([...held, 'absent /ws/sub/in/new'])
    expect(await rulesFor(path('ws/sub', 'read'), path('ws/sub/in/key', 'deny'))).toEqual([
      'read /ws/sub',
      'deny /ws/sub/in/key',
    ])
  })

  it('hides what is hidden, whatever the entries say', async () => {
    const entries = [ROOT, path('other', 'write')]
    const hidden = [at('other'), at('nowhere')]
    expect((await plan(entries, { hidden })).rules).toEqual(['deny /other'])
  })

  it('starts nowhere that the command may not read, and nowhere that is not there', async () => {
    await expect(plan([ROOT, path('ws', 'deny')])).rejects.toThrow(refusal('sandboxCwd', /where it would start/))
    await expect(plan([path('other', 'read')])).rejects.toThrow(refusal('sandboxCwd', /where it would start/))
    await expect(plan([ROOT], { cwd: at('nowhere') })).rejects.toThrow(/No such file or directory/)
    await expect(plan([ROOT], { cwd: at('other/a.txt') })).rejects.toThrow(/Not a directory/)
  })

  it('keeps the links by which a path is known where nothing else is there', async () => {
    await symlink('other', at('link'))
    const { links, base } = await plan([path('link', 'read'), path('other', 'read'), path('ws', 'read')])
    expect(base).toBe('none')
    expect(links).toEqual([{ path: at('link'), target: 'other' }])
  })

  it('lets nothing be had by a name that no entry names', async () => {
    await symlink('other', at('link'))
    await expect(plan([path('link', 'read'), path('ws', 'read')])).rejects.toThrow(
      refusal('permissionProfile.file_system.entries[0]', /is a symbolic link: name `.*other`/),
    )
  })
})

describe('locate', () => {
  it('follows a path as the kernel does', async () => {
    await symlink('ws/sub', at('short'))
    expect(await locate(at('short/in'))).toMatchObject({ kind: 'found', real: at('ws/sub/in'), isFolder: true })
    await symlink('short/..', at('up'))
    expect(await locate(at('up'))).toMatchObject({ kind: 'found', real: at('ws') })
    expect(await locate(at('up/new/deep'))).toMatchObject({ kind: 'missing', first: at('ws/new') })
    expect(await locate(at('other/a.txt/x'))).toMatchObject({ kind: 'missing', first: at('other/a.txt') })
  })

  it('gives up on links that go round', async () => {
    await symlink('b', at('a'))
    await symlink('a', at('b'))
    expect(await locate(at('a'))).toMatchObject({ kind: 'unknown' })
    await expect(plan([ROOT, path('a', 'deny')])).rejects.toThrow(
      refusal(expect.any(String), /too many symbolic links/),
    )
  })
})
