// A module loader hook: the conformance suite imports `globSync` from `fs`, which Node has from 22 on. Only commands that
// no test runs call it, so that a stand-in that finds nothing is enough for the module to load.

const SUITE = '/@modelcontextprotocol/conformance/'

const FS_WITH_GLOB = `
import fs from 'node:fs'
export * from 'node:fs'
export default fs
export const globSync = fs.globSync ?? (() => [])
`

const url = `data:text/javascript,${encodeURIComponent(FS_WITH_GLOB)}`

export function resolve(specifier, context, nextResolve) {
  const isFs = specifier === 'fs' || specifier === 'node:fs'
  if (isFs && context.parentURL?.includes(SUITE)) return { url, format: 'module', shortCircuit: true }
  return nextResolve(specifier, context)
}
