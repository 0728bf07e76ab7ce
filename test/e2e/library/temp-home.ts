import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reeve, type ReeveOptions } from '../../../src/reeve.js'
import { fixture } from '../../fixtures/stdio/running.js'

/** A home of the test's own, with a configuration, gone when it is disposed of. */
export class TempHome implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'reeve-home-'))

  constructor(configToml = '') {
    this.write('config.toml', configToml)
  }

  write(name: string, text: string): string {
    const file = join(this.path, name)
    writeFileSync(file, text)
    return file
  }

  open(options: ReeveOptions = {}): Promise<Reeve> {
    const env = { PATH: process.env.PATH, HOME: this.path }
    return Reeve.open({ home: this.path, cwd: this.path, env, ...options })
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** The TOML of a server that runs a fixture. */
export function stdioServer(name: string, script: string, args: readonly string[] = [], more = ''): string {
  return `[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([fixture(script), ...args])}\n${more}\n`
}

export function httpServer(name: string, url: string, more = ''): string {
  return `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}\n${more}\n`
}
