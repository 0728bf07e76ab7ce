import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildCli, type CliHome, cliHome, echo, ROOT } from './built-cli.js'

const CLI = join(ROOT, 'dist', 'cli')
const KEYCHAIN = '/@napi-rs/keyring/'

/** The parts of the built command line that hold code of jose. */
let jose: readonly string[]
beforeAll(async () => {
  await buildCli()
  jose = readdirSync(CLI).filter((name) => readFileSync(join(CLI, name), 'utf8').includes('// node_modules/jose/'))
})

/** Runs something and tells the files whose code was run, as Node itself counts them. */
async function loaded(home: CliHome, run: (env: Record<string, string>) => Promise<unknown>) {
  const folder = mkdtempSync(join(home.folder, 'coverage-'))
  await run({ NODE_V8_COVERAGE: folder })
  return readdirSync(folder).flatMap((name): string[] => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    return result.map(({ url }: { readonly url: string }) => url)
  })
}

describe('a verb that starts cold', () => {
  it.each([
    ['list', ['list']],
    ['tools', ['tools', 'notes']],
    ['call', ['call', 'notes', 'echo', 'message=hi']],
    ['auth status', ['auth', 'status']],
  ])('loads neither what checks tokens nor the keychain: %s', async (_verb, args) => {
    expect(jose).not.toEqual([])
    await using home = await cliHome({ notes: echo() })
    const files = await loaded(home, async (env) => expect((await home.reeve(args, { env })).code).toBe(0))
    expect(files.length).toBeGreaterThan(10)
    expect(files.filter((url) => url.includes(KEYCHAIN) || jose.some((name) => url.endsWith(`/${name}`)))).toEqual([])
  })

  it('would be seen to load the keychain', async () => {
    await using home = await cliHome()
    const program = ['--eval', "require('@napi-rs/keyring')"]
    const files = await loaded(home, (coverage) =>
      promisify(execFile)(process.execPath, program, { cwd: ROOT, env: { ...process.env, ...coverage } }),
    )
    expect(files.some((url) => url.includes(KEYCHAIN))).toBe(true)
  })
})
