import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addServer, removeServer, setEnabled, setTrust } from './servers.js'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-edit-'))
  file = join(folder, 'config.toml')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const text = () => readFileSync(file, 'utf8')

describe('adding a server', () => {
  it('makes the file, readable by its owner alone, and the folders on the way', async () => {
    file = join(folder, 'new', 'home', 'config.toml')
    expect(await addServer(file, 'x', { command: 'c', args: ['a'], env: { K: 'v' } })).toBe('added')
    expect(text()).toBe('[mcp_servers.x]\ncommand = "c"\nargs = ["a"]\n\n[mcp_servers.x.env]\nK = "v"\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(folder, 'new', 'home'))).toEqual(['config.toml'])
  })

  it('changes what is given and keeps the rest of the entry, with its comments', async () => {
    writeFileSync(
      file,
      '# x\n[mcp_servers.x]\ncommand = "old" # why\nargs = ["a"]\ntool_timeout_sec = 5\n[mcp_servers.x.tools.t]\napproval_mode = "prompt"\n',
    )
    expect(await addServer(file, 'x', { command: 'new', args: ['b'], env: { K: 'v' } })).toBe('merged')
    expect(text()).toBe(
      '# x\n[mcp_servers.x]\ncommand = "new" # why\nargs = ["b"]\ntool_timeout_sec = 5\nenv = { K = "v" }\n[mcp_servers.x.tools.t]\napproval_mode = "prompt"\n',
    )
  })

  it('drops the old arguments with the old command, and the old transport with its members', async () => {
    writeFileSync(
      file,
      '[mcp_servers.x]\ncommand = "old"\nargs = ["a"]\nrequired = true\n[mcp_servers.x.env]\nK = "v"\n',
    )
    await addServer(file, 'x', { command: 'new' })
    expect(text()).toBe('[mcp_servers.x]\ncommand = "new"\nrequired = true\n[mcp_servers.x.env]\nK = "v"\n')
    await addServer(file, 'x', { url: 'http://h/' })
    expect(text()).toBe('[mcp_servers.x]\nrequired = true\nurl = "http://h/"\n')
  })

  it('replaces the whole entry when asked to', async () => {
    writeFileSync(
      file,
      '[mcp_servers.x]\ncommand = "old"\nargs = ["a"]\n[mcp_servers.x.tools.t]\napproval_mode = "prompt"\n',
    )
    expect(await addServer(file, 'x', { command: 'new' }, { replace: true })).toBe('replaced')
    expect(text()).toBe('[mcp_servers.x]\ncommand = "new"\n')
  })

  it('writes nothing when nothing changes', async () => {
    await addServer(file, 'x', { command: 'c' })
    const before = statSync(file)
    expect(await addServer(file, 'x', { command: 'c' })).toBe('unchanged')
    expect(statSync(file).ino).toBe(before.ino)
  })

  it('refuses an entry that could not be loaded, and a name that could not start', async () => {
    await expect(addServer(file, 'x', { command: 'c', startup_timeout_sec: -1 })).rejects.toMatchObject({
      code: 'negative_duration',
    })
    await expect(addServer(file, 'a b', { command: 'c' })).rejects.toMatchObject({ code: 'invalid_server_name' })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('editing a file', () => {
  it.each(['[mcp_servers.x]\ncommand = "c', '[mcp_servers.x\n', 'a = 1\na = 2\n'])(
    'is refused while it is half-written: %j',
    async (broken) => {
      writeFileSync(file, broken)
      await expect(addServer(file, 'y', { command: 'c' })).rejects.toMatchObject({ code: 'syntax' })
      await expect(removeServer(file, 'x')).rejects.toMatchObject({ code: 'syntax' })
      expect(text()).toBe(broken)
      expect(readdirSync(folder)).toEqual(['config.toml'])
    },
  )

  it('is refused for JSON of other programs', async () => {
    await expect(addServer(join(folder, 'mcp.json'), 'x', { command: 'c' })).rejects.toMatchObject({
      code: 'not_editable',
    })
  })

  it('is refused when the place of the file is a folder', async () => {
    mkdirSync(file)
    await expect(addServer(file, 'x', { command: 'c' })).rejects.toMatchObject({ code: 'is_directory' })
  })

  it('is refused where no file can be', async () => {
    writeFileSync(join(folder, 'file'), '')
    await expect(addServer(join(folder, 'file', 'config.toml'), 'x', { command: 'c' })).rejects.toMatchObject({
      code: 'unwritable',
    })
  })

  it('goes on after a process that died with the lock', async () => {
    mkdirSync(`${file}.lock`)
    utimesSync(`${file}.lock`, 1, 1)
    expect(await addServer(file, 'x', { command: 'c' })).toBe('added')
    expect(readdirSync(folder)).toEqual(['config.toml'])
  })

  it('keeps its mode, its byte order mark and the link to it', async () => {
    const target = join(folder, 'dotfiles.toml')
    writeFileSync(target, '\ufeff[mcp_servers.x]\r\ncommand = "c"\r\n', { mode: 0o640 })
    symlinkSync(target, file)
    expect(await setEnabled(file, 'x', false)).toBe('changed')
    expect(lstatSync(file).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, 'utf8')).toBe('\ufeff[mcp_servers.x]\r\ncommand = "c"\r\nenabled = false\r\n')
    expect(statSync(target).mode & 0o777).toBe(0o640)
  })

  it('loses nothing when several processes do it at once', async () => {
    const script = `import { addServer } from ${JSON.stringify(join(import.meta.dirname, 'servers.ts'))}
      for (let index = 0; index < 5; index += 1) await addServer(process.argv[2], \`p\${process.argv[3]}-\${index}\`, { command: 'c' })`
    const bundle = join(folder, 'edit.mjs')
    buildSync({
      stdin: { contents: script, resolveDir: import.meta.dirname, loader: 'ts' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: bundle,
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    })
    const children = ['a', 'b', 'c', 'd'].map((id) => spawn(process.execPath, [bundle, file, id], { stdio: 'inherit' }))
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
    expect(codes).toEqual([0, 0, 0, 0])
    expect(text().match(/^\[mcp_servers\./gm)).toHaveLength(20)
  })
})

describe('switching, removing, trusting', () => {
  it('says what it did', async () => {
    writeFileSync(file, '[mcp_servers.x]\ncommand = "c"\n')
    expect(await setEnabled(file, 'x', true)).toBe('unchanged')
    expect(await setEnabled(file, 'y', true)).toBe('unknown')
    expect(await removeServer(file, 'y')).toBe(false)
    expect(await removeServer(file, 'x')).toBe(true)
    expect(text()).toBe('')
  })

  it('switches off a server that is broken', async () => {
    writeFileSync(file, '[mcp_servers.x]\ncommand = 5\n')
    expect(await setEnabled(file, 'x', false)).toBe('changed')
  })

  it.each(['__proto__', 'constructor'])('knows no server by inheritance: %s', async (name) => {
    writeFileSync(file, '[mcp_servers.x]\ncommand = "c"\n[projects.y]\n')
    expect(await setEnabled(file, name, false)).toBe('unknown')
    expect(await removeServer(file, name)).toBe(false)
    expect(await setTrust(file, name, 'trusted')).toBe(true)
    expect(text()).toContain(`[projects.${name}]\ntrust_level = "trusted"\n`)
  })

  it('trusts a folder once', async () => {
    expect(await setTrust(file, '/a b/c', 'trusted')).toBe(true)
    expect(await setTrust(file, '/a b/c', 'trusted')).toBe(false)
    expect(await setTrust(file, '/a b/c', 'untrusted')).toBe(true)
    expect(text()).toBe('[projects."/a b/c"]\ntrust_level = "untrusted"\n')
  })
})
