import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface BuiltProgram extends AsyncDisposable {
  readonly command: string
  readonly args: readonly string[]
}

/** Makes a program of its own from a TypeScript file beside this one. Its packages are those of the repository. */
export async function buildProgram(name: string): Promise<BuiltProgram> {
  await mkdir(join(ROOT, '.cache'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.cache', 'e2e-'))
  const outfile = join(folder, `${name}.mjs`)
  await build({
    entryPoints: [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  return {
    command: process.execPath,
    args: [outfile],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
