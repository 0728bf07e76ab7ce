import { basename, dirname, resolve, sep } from 'node:path'
import { type Environment, escapeVariables } from '../expand.js'
import { userHome } from '../home.js'
import { emptyTable, isTable, type Raw } from '../source/raw.js'

/** Turns the variables of another client's text into ours. */
export type RewriteVariables = (text: string) => string

/** Folders in which clients keep a project's file; the project is the folder above. */
const CLIENT_FOLDERS = new Set(['.vscode', '.cursor', '.gemini', '.claude', '.windsurf', '.roo', '.kiro', '.codex'])

/**
 * `${env:X}` (VS Code, Cursor, Windsurf) becomes `${X}`; `${workspaceFolder}` and its like become what they stand for.
 * `${X}` and `${X:-default}` (Claude) are ours already; `${input:x}` stays, to be named when it is expanded. In files of
 * Gemini CLI a bare `$X` is a variable too.
 */
export function commonVariables(file: string, environment: Environment): RewriteVariables {
  const folder = dirname(resolve(file))
  const workspace = CLIENT_FOLDERS.has(basename(folder)) ? dirname(folder) : folder
  const fixed: ReadonlyMap<string, string> = new Map([
    ['workspaceFolder', workspace],
    ['workspaceRoot', workspace],
    ['workspaceFolderBasename', basename(workspace)],
    ['userHome', userHome(environment)],
    ['pathSeparator', sep],
    ['/', sep],
  ])
  const ofGemini = basename(folder) === '.gemini'
  return (text) => {
    const rewritten = text.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => {
      if (inside.startsWith('env:')) return `\${${inside.slice('env:'.length)}}`
      const value = fixed.get(inside)
      return value === undefined ? whole : escapeVariables(value)
    })
    return ofGemini ? rewritten.replace(/\$([A-Za-z_][A-Za-z0-9_]*)/g, (_, name: string) => `\${${name}}`) : rewritten
  }
}

/** opencode: `{env:X}`; `${X}` means nothing there. `{file:…}` stays as it is. */
export function opencodeVariables(text: string): string {
  return escapeVariables(text).replace(/\{env:([^}]*)\}/g, (_, name: string) => `\${${name}}`)
}

/** Rewrites every text of a value. */
export function rewriteTexts(value: Raw, rewrite: RewriteVariables): Raw {
  if (typeof value === 'string') return rewrite(value)
  if (Array.isArray(value)) return value.map((item: Raw) => rewriteTexts(item, rewrite))
  if (!isTable(value)) return value
  const table = emptyTable()
  for (const [name, item] of Object.entries(value)) table[name] = rewriteTexts(item, rewrite)
  return table
}
