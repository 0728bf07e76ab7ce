import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

it('needs nothing but Node and the list of errors', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'src', 'sandbox', 'kit', 'index.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
  })
  const files = Object.keys(metafile.inputs)
  expect(files.filter((file) => !file.startsWith('src/sandbox/kit/'))).toEqual(['src/errors.ts'])
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external))
  expect(new Set(imported.map(({ path }) => path))).toEqual(new Set(['node:path']))
})
