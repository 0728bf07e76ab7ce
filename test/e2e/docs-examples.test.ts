import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/index.js'
import { ROOT } from './built-cli.js'

const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)]

interface Example {
  readonly name: string
  readonly text: string
}

function examples(language: string): readonly Example[] {
  return PAGES.flatMap((page) => {
    const fences = readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)
    const found = [...fences].filter(([, of]) => of === language)
    return found.map(([, , text = ''], index) => ({ name: `${basename(page, '.md')}-${index + 1}`, text }))
  })
}

let folder: string
beforeAll(() => {
  // Within the project, where the types of Node are found.
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.cache', 'docs-examples-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('an example of the documentation', () => {
  it('in TypeScript has the types of the library', () => {
    const sources = examples('ts')
    expect(sources.length).toBeGreaterThan(10)
    for (const { name, text } of sources) {
      const code = text.replaceAll("from './", "from '../../src/")
      writeFileSync(join(folder, `${name}.ts`), `${code}\nexport {}\n`)
    }
    const paths = {
      reeve: ['../../src/reeve.ts'],
      'reeve/gateway': ['../../src/gateway/index.ts'],
      'reeve/sandbox': ['../../src/sandbox/kit/index.ts'],
    }
    const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, paths }
    const include = ['*.ts', '../../test/fixtures/docs/scope.d.ts']
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include, exclude: [] }),
    )
    const args = [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder, '--pretty', 'false']
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: folder })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  it.each(examples('toml').map(({ name, text }) => [name, text]))('in TOML is taken whole: %s', async (name, text) => {
    const home = join(folder, name)
    mkdirSync(home)
    const file = fileOf(text)
    writeFileSync(join(home, file), text)
    const loaded = await loadConfig({
      home,
      cwd: home,
      env: { HOME: home },
      requirementsFile: join(home, 'requirements.toml'),
    })
    expect(loaded.problems).toEqual([])
  })
})

/** Which file an example is of, by what only that one has. */
function fileOf(toml: string): string {
  if (/^\[approvals|^allowed_/m.test(toml)) return 'requirements.toml'
  return /^include_local/m.test(toml) ? 'environments.toml' : 'config.toml'
}
