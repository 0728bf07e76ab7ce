import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withLock } from './lock.js'
import { makePlaceholders } from './placeholders.js'
import { openRegistry, type Registry } from './registry.js'

let root: string
let registry: Registry
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'reeve-placeholders-'))
  registry = await openRegistry(root)
})
afterEach(() => rm(root, { recursive: true, force: true }))

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe.skipIf(process.platform !== 'linux')('placeholders', () => {
  it('are there as long as somebody needs them, in whatever order they leave', async () => {
    const path = join(root, '.git')
    const one = await makePlaceholders(registry, [path])
    // To the second, it looks like a folder that was there.
    const two = await makePlaceholders(registry, [path])
    expect([one.found.get(path), two.found.get(path)]).toEqual(['placeholder', 'placeholder'])
    await one[Symbol.asyncDispose]()
    expect(await exists(path)).toBe(true)
    await two[Symbol.asyncDispose]()
    expect(await exists(path)).toBe(false)
    expect(await readdir(join(registry.folder, 'claims'))).toEqual([])
  })

  it('leave what is real alone', async () => {
    const folder = join(root, '.git')
    const file = join(root, '.aws')
    await mkdir(folder)
    await writeFile(file, 'x')
    const placeholders = await makePlaceholders(registry, [folder, file])
    expect([...placeholders.found.values()]).toEqual(['real', 'real'])
    await placeholders[Symbol.asyncDispose]()
    expect(await exists(folder)).toBe(true)
    expect(await readFile(file, 'utf8')).toBe('x')
  })

  it('stay when somebody has put something into them', async () => {
    const path = join(root, '.git')
    const placeholders = await makePlaceholders(registry, [path])
    await writeFile(join(path, 'config'), '')
    await placeholders[Symbol.asyncDispose]()
    expect(await exists(join(path, 'config'))).toBe(true)
  })

  it('of a process that was killed are taken away by the next one', async () => {
    const path = join(root, '.git')
    const dead = spawn(process.execPath, ['-e', ''])
    await once(dead, 'exit')
    const first = await makePlaceholders(registry, [path])
    const [claims = ''] = await readdir(join(registry.folder, 'claims'))
    const folder = join(registry.folder, 'claims', claims)
    for (const name of await readdir(folder)) if (name !== 'made') await rm(join(folder, name))
    await writeFile(join(folder, `${dead.pid}.1.00000000`), '')
    // For another folder.
    const next = await makePlaceholders(registry, [join(root, '.aws')])
    expect(await exists(path)).toBe(false)
    await next[Symbol.asyncDispose]()
    await first[Symbol.asyncDispose]()
    expect(await readdir(join(registry.folder, 'claims'))).toEqual([])
  })

  it('are refused where a link came meanwhile, and none is left', async () => {
    const path = join(root, '.git')
    await symlink('/etc', path)
    await expect(makePlaceholders(registry, [join(root, '.aws'), path])).rejects.toThrow(/became a symbolic link/)
    expect(await exists(join(root, '.aws'))).toBe(false)
  })

  it('that can not be removed now are removed by the next one', async () => {
    const path = join(root, 'folder', '.git')
    await mkdir(join(root, 'folder'))
    const placeholders = await makePlaceholders(registry, [path])
    await rename(join(root, 'folder'), join(root, 'elsewhere'))
    // Links that go round keep even root from removing it.
    await symlink('loop', join(root, 'folder'))
    await symlink('folder', join(root, 'loop'))
    await placeholders[Symbol.asyncDispose]()
    await rm(join(root, 'folder'))
    await rename(join(root, 'elsewhere'), join(root, 'folder'))
    const next = await makePlaceholders(registry, [path])
    expect(next.found.get(path)).toBe('placeholder')
    await next[Symbol.asyncDispose]()
    expect(await exists(path)).toBe(false)
  })

  it('survive many at once', async () => {
    const paths = ['.git', '.aws'].map((name) => join(root, name))
    const rounds = Array.from({ length: 12 }, async () => {
      const placeholders = await makePlaceholders(registry, paths)
      for (const path of paths) expect(await exists(path)).toBe(true)
      await placeholders[Symbol.asyncDispose]()
    })
    await Promise.all(rounds)
    for (const path of paths) expect(await exists(path)).toBe(false)
  })
})

describe('the registry', () => {
  it('has a file that nobody may read', async () => {
    expect((await stat(registry.deniedFile)).mode & 0o777).toBe(0)
    expect(await openRegistry(root)).toEqual(registry)
  })

  it('is refused when others can reach it, or it is no folder', async () => {
    await chmod(registry.folder, 0o755)
    await expect(openRegistry(root)).rejects.toThrow(/open to others/)
    await rm(registry.folder, { recursive: true })
    await symlink(root, registry.folder)
    await expect(openRegistry(root)).rejects.toThrow(/open to others/)
    await expect(openRegistry(root, 12_345)).rejects.toThrow(/belongs to someone else/)
  })
})

describe.skipIf(process.platform !== 'linux')('withLock', () => {
  const holder = (name: string): ChildProcess =>
    spawn(process.execPath, ['-e', `require('net').createServer().listen('\\0${name}', () => console.log('held'))`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })

  it('waits for a process that holds it, however that one ends', async () => {
    const name = join(root, 'lock')
    const other = holder(name)
    if (other.stdout === null) throw new Error('no output')
    await once(other.stdout, 'data')
    let held = false
    const work = withLock(name, async () => {
      held = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(held).toBe(false)
    other.kill('SIGKILL')
    await work
    expect(held).toBe(true)
  })

  it('says that it is held, after a while', async () => {
    const name = join(root, 'lock')
    await withLock(name, async () => {
      await expect(withLock(name, async () => {}, 50)).rejects.toThrow(
        expect.objectContaining({ code: 'sandbox_busy' }),
      )
    })
  })

  it('lets go when the work fails', async () => {
    const name = join(root, 'lock')
    await expect(
      withLock(name, async () => {
        throw new Error('failed')
      }),
    ).rejects.toThrow('failed')
    expect(await withLock(name, async () => 'taken')).toBe('taken')
  })
})
