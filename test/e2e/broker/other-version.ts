import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../built-cli.js'

/**
 * The built command line once more, as another version of Reeve: what an upgrade or an older installation leaves on a
 * machine. Gives the script that starts it.
 */
export function installVersion(version: string, folder: string): string {
  const own = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
  const cli = join(folder, `reeve-${version}`, 'dist', 'cli')
  mkdirSync(cli, { recursive: true })
  cpSync(join(ROOT, 'dist', 'cli'), cli, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, `reeve-${version}`, 'node_modules'))
  for (const name of readdirSync(cli)) {
    if (!/\.m?js$/.test(name)) continue
    const text = readFileSync(join(cli, name), 'utf8')
    writeFileSync(join(cli, name), text.replaceAll(JSON.stringify(own), JSON.stringify(version)))
  }
  return join(cli, 'reeve.js')
}
