// What is served where nobody configured anything: reference servers, pinned in demo/, on this machine and in a second
// environment, so that two servers of one name stand side by side. Each works on files of its own.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The second environment: an executor that the gateway starts on this machine, as it would on another one. */
export const WORKSHOP = 'workshop'

const WELCOME = `# Welcome to Reeve

This folder is what the demo server \`files\` may read and write. Ask your client to list it, to read this file,
or to write another one beside it. The server \`files\` of the environment \`${WORKSHOP}\` has a folder of its own.

To serve your own servers instead: \`reeve add NAME -- COMMAND\`, or \`reeve import\` for those of another client.
`

const GROCERIES = `# Groceries

- oats
- apples
- coffee (the good one)
`

const WORKBENCH = `# The workshop

This file is in another environment: the server \`files\` that runs there reads it, and the one of your machine does not.
Here the environment is a process of this machine. \`reeve env add\` adds real ones, over ssh or a WebSocket.
`

/**
 * Writes the configuration of the demo servers and the files that they work on, all under `home/demo`. Files of the
 * user there stay as they are; the configuration is made anew, since this folder may have moved.
 * @param {{ home: string, demo: string, reeve: string }} places absolute; `demo`: where the servers are installed,
 *   `reeve`: the built command line
 * @returns {string} the configuration file
 */
export function writeEmbeddedDefault({ home, demo, reeve }) {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const folder = join(home, 'demo')
  const server = (name, ...args) => [
    join(demo, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js'),
    ...args,
  ]
  const here = folderWith(join(folder, 'files'), { 'welcome.md': WELCOME, 'groceries.md': GROCERIES })
  const workshop = join(folder, WORKSHOP)
  const there = folderWith(join(workshop, 'files'), { 'workbench.md': WORKBENCH })
  const plugin = writePlugin(join(workshop, 'plugin'), {
    notes: entry(server('memory'), { MEMORY_FILE_PATH: join(workshop, 'notes.jsonl') }),
    files: entry(server('filesystem', there)),
  })
  const config = join(folder, 'embedded.toml')
  writeFileSync(
    config,
    [
      '# Made by `npm start`, which serves these when there is no config.toml in this home. Edits are overwritten.',
      table('mcp_servers.everything', entry(server('everything'))),
      table('mcp_servers.files', entry(server('filesystem', here))),
      table('mcp_servers.notes', entry(server('memory'), { MEMORY_FILE_PATH: join(folder, 'notes.jsonl') })),
      table('[environments]', {
        id: WORKSHOP,
        program: process.execPath,
        args: [reeve, 'executor', '--listen', 'stdio'],
        cwd: workshop,
        workspace: there,
      }),
      table('[capability_roots]', { id: WORKSHOP, environment: WORKSHOP, path: plugin }),
      '',
    ].join('\n\n'),
  )
  return config
}

function entry([program, ...args], env) {
  return { command: process.execPath, args: [program, ...args], ...(env && { env }) }
}

/** A plugin of the second environment. */
function writePlugin(folder, servers) {
  mkdirSync(join(folder, '.codex-plugin'), { recursive: true })
  const manifest = { name: WORKSHOP, version: '1.0.0', description: 'Demo servers of Reeve in a second environment.' }
  writeFileSync(join(folder, '.codex-plugin', 'plugin.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, '.mcp.json'), `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`)
  return folder
}

function folderWith(folder, files) {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    if (!existsSync(join(folder, name))) writeFileSync(join(folder, name), content)
  }
  return folder
}

function table(name, members) {
  return [`[${name}]`, ...Object.entries(members).map(([key, value]) => `${key} = ${toml(value)}`)].join('\n')
}

function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`
  if (typeof value === 'string') return text(value)
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${key} = ${toml(member)}`)
    .join(', ')} }`
}

/** A basic TOML string, which JSON's escapes fit; a path that looks like a variable is not one. */
function text(value) {
  return JSON.stringify(value.replaceAll('${', '$${')).replaceAll('\u007f', '\\u007f')
}
