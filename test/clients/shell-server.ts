import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { z } from 'zod'
import { ROOT } from './peers.js'

/** The example in a folder of its own, with nothing of Reeve but the kit among its packages. Gives its script. */
export async function installShellServer(folder: string): Promise<string> {
  await cp(join(ROOT, 'examples', 'shell-server'), folder, { recursive: true })
  const reeve = join(folder, 'node_modules', 'reeve')
  await build({
    entryPoints: [join(ROOT, 'src', 'sandbox', 'kit', 'index.ts')],
    outfile: join(reeve, 'sandbox.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  const manifest = { name: 'reeve', type: 'module', exports: { './sandbox': './sandbox.js' } }
  await writeFile(join(reeve, 'package.json'), JSON.stringify(manifest))
  return join(folder, 'server.mjs')
}

/** What its tools give: the command's end, or why there was none. */
export const Outcome = z.looseObject({
  isError: z.boolean(),
  structuredContent: z.looseObject({
    exitCode: z.union([z.number(), z.string()]).optional(),
    stdout: z.string().optional(),
    stderr: z.string().optional(),
    sandbox: z.string().optional(),
    refused: z.string().optional(),
  }),
})
