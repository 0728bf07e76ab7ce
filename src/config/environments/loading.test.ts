import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LoadConfigOptions, loadConfig } from '../load.js'

let root: string
let home: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reeve-environments-'))
  home = join(root, 'home')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}
const ofUser = (text: string) => write(join(home, 'config.toml'), text)
const environmentsFile = (text: string) => write(join(home, 'environments.toml'), text)
const load = async (options: LoadConfigOptions = {}) => {
  const loaded = await loadConfig({ home, cwd: root, env: {}, requirementsFile: join(root, 'none'), ...options })
  return { ...loaded.environments, problems: loaded.problems, ids: loaded.environments.entries.map(({ id }) => id) }
}
const url = (id: string, port = 1) => `[[environments]]\nid = "${id}"\nurl = "ws://127.0.0.1:${port}"\n`

describe('the file', () => {
  it('may be missing: the host alone', async () => {
    expect(await load()).toMatchObject({ ids: [], includeLocal: true, defaultSelection: ['local'], problems: [] })
  })

  it('says where each entry stands, and starts programs below its own folder', async () => {
    const file = environmentsFile(
      `# mine\n${url('a')}[[environments]]\nid = "b"\nprogram = "ssh"\ncwd = "rel"\nworkspace = "C:\\\\app"\n`,
    )
    const { entries } = await load()
    expect(entries).toMatchObject([
      { id: 'a', origin: { file, layer: 'user', line: 2 } },
      { id: 'b', cwd: 'C:\\app', connection: { kind: 'command', program: 'ssh', cwd: join(home, 'rel') } },
    ])
  })

  it('takes a token by the name of a variable, and shows no secret in an error', async () => {
    environmentsFile('[[environments]]\nid = "a"\nurl = "wss://h"\nauth_bearer_token_env_var = "T"\n')
    expect((await load()).entries).toMatchObject([{ connection: { bearerTokenEnvVar: 'T' } }])
    for (const line of [
      'auth_bearer_token = ["s3cret"]',
      'url = "ws://u:s3cret@h"',
      'url = "http://h/?token=s3cret"',
    ]) {
      environmentsFile(`[[environments]]\nid = "a"\nurl = "wss://h"\n`.replace('url = "wss://h"', line))
      const { problems } = await load()
      expect(problems).toHaveLength(1)
      expect(JSON.stringify(problems)).not.toContain('s3cret')
    }
  })

  it('never lets a token cross a network in the clear', async () => {
    environmentsFile('[[environments]]\nid = "a"\nurl = "ws://10.0.0.1:1"\nauth_bearer_token = "t"\n')
    expect((await load()).problems).toMatchObject([{ code: 'insecure_token' }])
  })

  it('may name an environment of config.toml as the default', async () => {
    environmentsFile('default = "a"\n')
    ofUser(url('a'))
    expect(await load()).toMatchObject({ defaultSelection: ['a', 'local'], problems: [] })
  })

  it('knows no member by inheritance', async () => {
    environmentsFile('[[environments]]\nid = "a"\nurl = "ws://h"\nconstructor = 1\n')
    expect((await load()).problems).toMatchObject([{ code: 'unknown_member' }])
  })

  it('counts beside a config.toml of Codex that is named, and not beside another file', async () => {
    const folder = join(root, '.codex')
    const file = write(join(folder, 'config.toml'), '')
    write(join(folder, 'environments.toml'), url('far'))
    environmentsFile(url('mine'))
    expect((await load({ files: [file] })).ids).toEqual(['far'])
    expect((await load({ files: [write(join(root, 'other.toml'), '')] })).ids).toEqual([])
    expect((await load({ files: [ofUser('')] })).ids).toEqual(['mine'])
  })
})

describe('config.toml', () => {
  it('puts its entries over those of the file, in the place of the file', async () => {
    environmentsFile(`${url('a', 1)}${url('b', 2)}`)
    ofUser(`${url('c', 3)}${url('a', 4)}cwd = "/srv"\n`)
    const { entries, defaultSelection } = await load()
    expect(entries).toMatchObject([
      { id: 'a', cwd: '/srv', connection: { url: 'ws://127.0.0.1:4' } },
      { id: 'b', connection: { url: 'ws://127.0.0.1:2' } },
      { id: 'c', connection: { url: 'ws://127.0.0.1:3' } },
    ])
    expect(defaultSelection).toEqual(['local', 'a', 'b', 'c'])
  })

  it('names the place of a broken entry, which hides only its own id', async () => {
    environmentsFile(`${url('a')}${url('b')}`)
    const file = ofUser(`[[environments]]\nid = "a"\nurl = "http://h"\n${url('c')}[[environments]]\nurl = "ws://h"\n`)
    const { ids, problems } = await load()
    expect(ids).toEqual(['b', 'c'])
    expect(problems.map(({ code, place }) => [code, place])).toEqual([
      ['url_scheme', `${file}:3:1 environments.0.url`],
      ['missing_member', `${file}:7:1 environments.2`],
    ])
  })

  it('takes none of two entries of one id', async () => {
    ofUser(`${url('a', 1)}${url('a', 2)}${url('b')}`)
    expect(await load()).toMatchObject({ ids: ['b'], problems: [{ code: 'duplicate_id' }] })
  })

  it('replaces variables, and keeps what was written for those who show it', async () => {
    ofUser(`[[environments]]\nid = "a"\nurl = "wss://h"\nauth_bearer_token = "\${T}"\n`)
    const { entries } = await load({ env: { T: 'secret' } })
    expect(entries).toMatchObject([{ connection: { bearerToken: 'secret' }, written: { bearerToken: `\${T}` } }])
    expect(await load()).toMatchObject({ ids: [], problems: [{ code: 'undefined_variable' }] })
  })

  it('warns of what it does not know, and reads on', async () => {
    ofUser(`${url('a')}workspaces = "/srv"\n`)
    expect(await load()).toMatchObject({ ids: ['a'], problems: [{ severity: 'warning', code: 'unknown_member' }] })
  })

  it.each(['environments = 5', 'capability_roots = { a = 1 }'])(
    'stands when a section is no list: %s',
    async (text) => {
      ofUser(`${text}\n`)
      expect(await load()).toMatchObject({ ids: [], problems: [{ code: 'wrong_type' }] })
    },
  )

  it('has capability roots, the later file winning by id, the first entry within a file', async () => {
    const rootOf = (id: string, path: string) =>
      `[[capability_roots]]\nid = "${id}"\nenvironment = "a"\npath = '${path}'\n`
    const first = write(join(root, '1.toml'), rootOf('x', '/one') + rootOf('x', '/two') + rootOf('y', 'C:\\y'))
    const second = write(join(root, '2.toml'), rootOf('y', '/three') + rootOf('z', 'relative') + rootOf('', '/e'))
    const { capabilityRoots, problems } = await load({ files: [first, second] })
    expect(capabilityRoots.map(({ id, path }) => [id, path])).toEqual([
      ['x', '/one'],
      ['y', '/three'],
    ])
    expect(problems.map(({ code }) => code)).toEqual(['duplicate_root', 'relative_path', 'empty'])
  })
})

describe('variables that stand for the file', () => {
  const env = { CODEX_EXEC_SERVER_URL: 'ws://127.0.0.1:1' }

  it('make one environment in the place of the host, where there is no file', async () => {
    expect(await load({ env })).toMatchObject({ ids: ['remote'], includeLocal: false, defaultSelection: ['remote'] })
    expect(await load({ env: { CODEX_EXEC_SERVER_URL: 'none' } })).toMatchObject({ ids: [], defaultSelection: [] })
    environmentsFile('')
    expect(await load({ env })).toMatchObject({ ids: [], defaultSelection: ['local'] })
  })

  it('are told when they cannot be used', async () => {
    const { problems, ids } = await load({ env: { CODEX_EXEC_SERVER_URL: 'http://h' } })
    expect([ids, problems]).toMatchObject([[], [{ code: 'url_scheme', place: 'CODEX_EXEC_SERVER_URL' }]])
    const noise = { CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: 's3cret' }
    const told = await load({ env: noise })
    expect(told.problems).toMatchObject([
      { severity: 'warning', code: 'unsupported', place: 'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN' },
    ])
    expect(JSON.stringify(told.problems)).not.toContain('s3cret')
  })

  it('looks up what connecting depends on, so that a broker asks its client for it', async () => {
    const looked = new Set<string>()
    const noting = new Proxy<Record<string, string>>(
      {},
      {
        getOwnPropertyDescriptor(_, name) {
          looked.add(String(name))
          return undefined
        },
      },
    )
    ofUser(
      '[[environments]]\nid = "a"\nurl = "wss://h"\nauth_bearer_token_env_var = "BOX_TOKEN"\n[[environments]]\nid = "b"\nprogram = "ssh"\n',
    )
    await load({ env: noting })
    expect([...looked]).toEqual(expect.arrayContaining(['BOX_TOKEN', 'SSH_AUTH_SOCK']))
  })
})
