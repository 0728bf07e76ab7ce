import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../load.js'
import { resolvedFor } from './resolve.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-permissions-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** What a user's `config.toml` comes to, and its problems without the folder. */
async function load(config: string, environments?: string) {
  writeFileSync(join(home, 'config.toml'), config)
  if (environments !== undefined) writeFileSync(join(home, 'environments.toml'), environments)
  const { permissions, problems } = await loadConfig({
    home,
    cwd: home,
    env: { HOME: home },
    requirementsFile: join(home, 'none.toml'),
  })
  const told = problems.map(({ severity, code, place }) => [severity, code, place.replace(`${home}/`, '')])
  return { permissions, told, texts: problems.map(({ message }) => message) }
}

const preset = (name: string, options: object = {}) => ({ is: 'preset', preset: name, options })
const NOTHING = { is: 'nothing' }

describe('what holds in an environment', () => {
  it('is read-only where nothing is configured', async () => {
    const { permissions, told } = await load('')
    expect(resolvedFor(permissions, 'local')).toEqual(preset('read-only'))
    expect(told).toEqual([])
  })

  it('is the mode, with what workspace-write allows beside', async () => {
    const { permissions, told } = await load(`sandbox_mode = "workspace-write"
[sandbox_workspace_write]
writable_roots = ["/srv/more", "beside", "~/x"]
network_access = true
exclude_slash_tmp = true
`)
    const options = {
      writableRoots: ['/srv/more', join(home, 'beside'), '~/x'],
      networkAccess: true,
      excludeSlashTmp: true,
    }
    expect(resolvedFor(permissions, 'local')).toEqual(preset('workspace-write', options))
    expect(told).toEqual([])
  })

  it('is the chosen profile, by the names of Codex and of its modes', async () => {
    for (const [name, mode] of [
      [':workspace', 'workspace-write'],
      [':danger-full-access', 'danger-full-access'],
      ['read-only', 'read-only'],
    ] as const) {
      const { permissions } = await load(`default_permissions = "${name}"\n`)
      expect(resolvedFor(permissions, 'local')).toEqual(preset(mode))
    }
  })

  it('is what the environment names, and before that what was asked for', async () => {
    const { permissions, told } = await load(
      `sandbox_mode = "workspace-write"
[[environments]]
id = "box"
url = "ws://127.0.0.1:9"
permissions = "read-only"
[permissions.tight.filesystem]
":minimal" = "read"
`,
      '[[environments]]\nid = "file"\nurl = "ws://127.0.0.1:9"\npermissions = "tight"\n',
    )
    expect(told).toEqual([])
    expect(resolvedFor(permissions, 'box')).toEqual(preset('read-only'))
    expect(resolvedFor(permissions, 'file')).toMatchObject({
      is: 'rules',
      rules: [{ path: ':minimal', access: 'read' }],
    })
    expect(resolvedFor(permissions, 'other')).toEqual(preset('workspace-write'))
    expect(resolvedFor(permissions, 'box', 'danger-full-access')).toEqual(preset('danger-full-access'))
  })
})

describe('a profile', () => {
  it('has its own rules before those of what it extends, in the order of the paths', async () => {
    const { permissions, told } = await load(`default_permissions = "child"
[permissions.parent]
extends = ":workspace"
[permissions.parent.filesystem]
":tmpdir" = "deny"
"/a" = "read"
[permissions.parent.network]
enabled = true
[permissions.child]
extends = "parent"
description = "x"
[permissions.child.workspace_roots]
"/more" = true
"/off" = false
[permissions.child.filesystem]
glob_scan_max_depth = 3
":tmpdir" = "read"
"/opt/**/*.key" = "none"
[permissions.child.filesystem.":workspace_roots"]
"private" = "deny"
"**/*.env" = "deny"
"sub/**" = "read"
`)
    expect(told).toEqual([])
    expect(resolvedFor(permissions, 'local')).toEqual({
      is: 'rules',
      rules: [
        { path: '/a', access: 'read' },
        { path: '/opt/**/*.key', access: 'deny' },
        { path: ':root', access: 'read' },
        { path: ':slash_tmp', access: 'write' },
        { path: ':tmpdir', access: 'read' },
        { path: ':workspace_roots', access: 'write' },
        { path: ':workspace_roots', subpath: '**/*.env', access: 'deny' },
        { path: ':workspace_roots', subpath: 'private', access: 'deny' },
        { path: ':workspace_roots', subpath: 'sub', access: 'read' },
      ],
      workspaceRoots: ['/more'],
      globScanMaxDepth: 3,
      network: true,
    })
  })

  it('leaves the network closed where only a proxy could hold to it', async () => {
    const { permissions, told } = await load(`default_permissions = "p"
[permissions.p.network]
enabled = true
[permissions.p.network.domains]
"example.com" = "allow"
`)
    expect(resolvedFor(permissions, 'local')).toMatchObject({ network: false })
    expect(told).toEqual([['warning', 'unsupported_member', 'config.toml:4:1 permissions.p.network.domains']])
  })
})

describe('what is wrong', () => {
  it.each<[string, string, string]>([
    ['sandbox_mode = "open"', 'unknown_value', '1:16 sandbox_mode'],
    ['sandbox_mode = 5', 'wrong_type', '1:16 sandbox_mode'],
    ['sandbox_mode = "workspace-write"\nsandbox_workspace_write = 1', 'wrong_type', '2:27 sandbox_workspace_write'],
    ['default_permissions = ["a"]', 'wrong_type', '1:23 default_permissions'],
    ['default_permissions = "gone"', 'unknown_profile', '1:23 default_permissions'],
    ['default_permissions = ":gone"', 'unknown_profile', '1:23 default_permissions'],
  ])('allows nothing until it is mended: %s', async (text, code, place) => {
    const { permissions, told } = await load(`${text}\n`)
    expect(resolvedFor(permissions, 'local')).toEqual(NOTHING)
    expect(told).toEqual([['error', code, expect.stringMatching(/^config\.toml:\d+/)]])
    expect(told[0]?.[2]?.split(' ')[1]).toBe(place.split(' ')[1])
    expect(told[0]?.[2]?.split(':')[1]).toBe(place.split(':')[0])
  })

  it.each([
    ['[permissions.p.filesystem]\n"rel" = "read"', 'relative_path'],
    ['[permissions.p.filesystem]\n"/a" = "all"', 'unknown_value'],
    ['[permissions.p.filesystem]\n"/a/*.x" = "write"', 'invalid_value'],
    ['[permissions.p.filesystem.":workspace_roots"]\n"../x" = "write"', 'invalid_value'],
    ['[permissions.p.filesystem.":root"]\n"x" = "write"', 'invalid_value'],
    ['[permissions.p.filesystem]\nglob_scan_max_depth = 0\n":root" = "read"', 'invalid_value'],
    ['[permissions.p]\nextends = "q"', 'invalid_value'],
    ['[permissions.p]\nextends = "p"', 'invalid_value'],
    ['[permissions.p]\nextends = ":danger-full-access"', 'invalid_value'],
    ['[permissions]\np = 1', 'wrong_type'],
  ])('in a profile takes it away, and what chooses it allows nothing: %s', async (text, code) => {
    const { permissions, told } = await load(`default_permissions = "p"\n${text}\n`)
    expect(resolvedFor(permissions, 'local')).toEqual(NOTHING)
    expect(told.map(([, found]) => found).sort()).toEqual([code, 'unknown_profile'].sort())
    for (const [, , place] of told) expect(place).toMatch(/^config\.toml:\d+/)
  })

  it('is the name of a preset, and a name that the presets keep for themselves', async () => {
    const { told, texts } = await load('[permissions.":mine".filesystem]\n":root" = "read"\n')
    expect(told.map(([, code]) => code)).toEqual(['reserved_name'])
    expect(texts[0]).toContain('begin with a colon')
  })

  it('is an environment that names no profile, and only there', async () => {
    const { permissions, told, texts } = await load(`sandbox_mode = "workspace-write"
[permissions.tight.filesystem]
":root" = "read"
[[environments]]
id = "box"
url = "ws://127.0.0.1:9"
permissions = "tigth"
`)
    expect(told).toEqual([['error', 'unknown_profile', 'config.toml:4 permissions']])
    expect(texts[0]).toContain('did you mean `tight`? Until')
    expect(resolvedFor(permissions, 'box')).toEqual(NOTHING)
    expect(resolvedFor(permissions, 'local')).toEqual(preset('workspace-write'))
  })

  it('is told of two answers to one question', async () => {
    const { permissions, told } = await load('sandbox_mode = "read-only"\ndefault_permissions = ":workspace"\n')
    expect(resolvedFor(permissions, 'local')).toEqual(preset('workspace-write'))
    expect(told).toEqual([['warning', 'ignored_member', 'config.toml:2:1 default_permissions']])
  })

  it('is nothing under names that objects have anyway', async () => {
    const { permissions, told } = await load(`default_permissions = "constructor"
[permissions.constructor.filesystem]
"__proto__" = "read"
[permissions.__proto__.filesystem]
":root" = "read"
`)
    expect(told.map(([, code]) => code)).toEqual(['relative_path', 'unknown_profile'])
    expect(permissions.profiles.has('__proto__')).toBe(true)
  })
})
