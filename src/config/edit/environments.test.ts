import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addEnvironment, removeEnvironment } from './environments.js'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-edit-'))
  file = join(folder, 'environments.toml')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const text = () => readFileSync(file, 'utf8')

describe('adding an environment', () => {
  it('makes the file, readable by its owner alone', async () => {
    const entry = { program: 'ssh', args: ['-T', 'me@box'], env: { K: 'v' } }
    expect(await addEnvironment(file, 'box', entry)).toBe('added')
    expect(text()).toBe('[[environments]]\nid = "box"\nprogram = "ssh"\nargs = ["-T", "me@box"]\nenv = { K = "v" }\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('leaves comments and other entries as they are', async () => {
    writeFileSync(file, '# mine\ndefault = "a" # first\n\n# the box\n[[environments]]\nid = "a" # id\nurl = "ws://h"')
    await addEnvironment(file, 'b', { url: 'wss://b' })
    expect(text()).toBe(
      '# mine\ndefault = "a" # first\n\n# the box\n[[environments]]\nid = "a" # id\nurl = "ws://h"\n\n[[environments]]\nid = "b"\nurl = "wss://b"\n',
    )
  })

  it('changes what is given of one that is there, and keeps the rest', async () => {
    writeFileSync(
      file,
      '[[environments]]\nid = "a"\nurl = "ws://127.0.0.1:1" # old\nauth_bearer_token = "t"\ninitialize_timeout_sec = 5 # slow\n\n[[environments]]\nid = "b"\nurl = "ws://h"\n',
    )
    expect(await addEnvironment(file, 'a', { url: 'wss://n' })).toBe('merged')
    expect(text()).toBe(
      '[[environments]]\nid = "a"\nurl = "wss://n" # old\ninitialize_timeout_sec = 5 # slow\n\n[[environments]]\nid = "b"\nurl = "ws://h"\n',
    )
    expect(await addEnvironment(file, 'a', { url: 'wss://n' })).toBe('unchanged')
    expect(await addEnvironment(file, 'a', { url: 'wss://n' }, { replace: true })).toBe('replaced')
    expect(text()).not.toContain('initialize_timeout_sec')
  })

  it('replaces a command and its tables by a url', async () => {
    writeFileSync(
      file,
      '[[environments]]\nid = "a"\nprogram = "ssh"\nargs = [\n  "x",\n]\n[environments.env]\nK = "v"\n\n[[environments]]\nid = "b"\nprogram = "p"\nenv.K = "v"\nenv.L = "w"\n',
    )
    await addEnvironment(file, 'a', { url: 'wss://n' })
    await addEnvironment(file, 'b', { program: 'q', env: { M: 'x' } })
    expect(text()).toBe(
      '[[environments]]\nid = "a"\nurl = "wss://n"\n\n[[environments]]\nid = "b"\nprogram = "q"\nenv = { M = "x" }\n',
    )
  })

  it('refuses what could not be loaded, and writes nothing', async () => {
    for (const [id, entry, code] of [
      ['local', { url: 'ws://h' }, 'reserved_id'],
      ['a', { url: 'http://h' }, 'url_scheme'],
      ['a', {}, 'transport_choice'],
    ] as const)
      await expect(addEnvironment(file, id, entry)).rejects.toMatchObject({ code })
    expect(() => text()).toThrow()
  })

  it('refuses a list in brackets rather than lose what stands in it', async () => {
    const written = 'environments = [\n  { id = "a", url = "ws://h" }, # the box\n]\n'
    writeFileSync(file, written)
    await expect(addEnvironment(file, 'b', { url: 'wss://b' })).rejects.toMatchObject({ code: 'edit_failed' })
    expect(text()).toBe(written)
  })
})

describe('removing an environment', () => {
  it('takes the entry, its tables and the comment above it', async () => {
    writeFileSync(
      file,
      'default = "b"\n\n# gone\n[[environments]]\nid = "a"\nprogram = "p"\n[environments.env]\nK = "v"\n\n# stays\n[[environments]]\nid = "b"\nurl = "ws://h"\n',
    )
    expect(await removeEnvironment(file, 'a')).toBe('removed')
    expect(await removeEnvironment(file, 'a')).toBe('unknown')
    expect(text()).toBe('default = "b"\n\n# stays\n[[environments]]\nid = "b"\nurl = "ws://h"\n')
    expect(await removeEnvironment(file, 'b')).toBe('removed_with_default')
    expect(text().trim()).toBe('')
  })

  it('takes both where an id stands twice, which never counted', async () => {
    writeFileSync(file, '[[environments]]\nid = "a"\nurl = "ws://h"\n[[environments]]\nid = "a"\nurl = "ws://i"\n')
    await removeEnvironment(file, 'a')
    expect(text()).toBe('')
  })
})
