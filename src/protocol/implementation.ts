import { readFileSync } from 'node:fs'

declare const REEVE_VERSION: string

/** What this side says of itself in `initialize`, as a client and as a server. */
export function implementation(): { name: string; title: string; version: string } {
  return { name: 'reeve', title: 'Reeve', version: packageVersion() }
}

/** The package's version: put in by the bundler, else read from the package that this file stands in. */
export function packageVersion(): string {
  if (typeof REEVE_VERSION === 'string') return REEVE_VERSION
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const manifest: unknown = JSON.parse(text)
  const version = typeof manifest === 'object' && manifest !== null && Reflect.get(manifest, 'version')
  return typeof version === 'string' ? version : '0.0.0'
}
