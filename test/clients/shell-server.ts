import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { z } from 'zod'
import { type ClientHome, clientHome } from './client-home.js'
import { ROOT } from './peers.js'

/** The example in a folder of its own, with nothing of Reeve but the kit among its packages. Gives its script. */
export async function installShellServer(folder: string): Promise<string> {
  // Whoever tried the example has installed it: what it is tried with here is this build.
  const from = join(ROOT, 'examples', 'shell-server')
  await cp(from, folder, { recursive: true, filter: (path) => !path.startsWith(join(from, 'node_modules')) })
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

/** The example in a home, beside a folder that it may write in and one that it may not. */
export interface ShellServerWorld extends AsyncDisposable {
  readonly home: ClientHome
  /** Its script. */
  readonly server: string
  readonly workspace: string
  readonly outside: string
}

export async function openShellServerWorld(name: string): Promise<ShellServerWorld> {
  const home = await clientHome(name)
  const server = await installShellServer(join(home.folder, 'shell-server'))
  const [workspace, outside] = [join(home.folder, 'workspace'), join(home.folder, 'outside')]
  for (const folder of [workspace, outside]) await mkdir(folder)
  return { home, server, workspace, outside, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() }
}

/** The arguments of a command that writes a file and reads it. */
export const writing = (path: string) => ({ command: ['/bin/sh', '-c', 'echo written > "$1" && cat "$1"', 'sh', path] })

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
