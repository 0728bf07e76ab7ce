// What is served where nobody configured anything: three reference servers, pinned in demo/, on files of their own.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const WELCOME = `# Welcome to Reeve

This folder is what the demo's filesystem server may read and write. Ask your client to list it, to read this file,
or to write another one beside it.

To serve your own servers instead: \`reeve add NAME -- COMMAND\`, or \`reeve import\` for those of another client.
`

const GROCERIES = `# Groceries

- oats
- apples
- coffee (the good one)
`

/**
 * Writes the configuration of the demo servers and the files that they work on, all under `home/demo`. Files of the
 * user there stay as they are; the configuration is made anew, since this folder may have moved.
 * @param {{ home: string, demo: string }} folders absolute; `demo`: where the servers are installed
 * @returns {string} the configuration file
 */
export function writeEmbeddedDefault({ home, demo }) {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const folder = join(home, 'demo')
  const files = join(folder, 'files')
  mkdirSync(files, { recursive: true })
  writeOnce(join(files, 'welcome.md'), WELCOME)
  writeOnce(join(files, 'groceries.md'), GROCERIES)
  const config = join(folder, 'embedded.toml')
  writeFileSync(
    config,
    [
      '# Made by `npm start`, which serves these when there is no config.toml in this home. Edits are overwritten.\n',
      server(demo, 'everything'),
      server(demo, 'filesystem', { args: [files] }),
      server(demo, 'memory', { env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } }),
    ].join('\n'),
  )
  return config
}

function server(demo, name, { args = [], env = {} } = {}) {
  const program = join(demo, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js')
  const variables = Object.entries(env).map(([key, value]) => `${key} = ${text(value)}`)
  return [
    `[mcp_servers.${name}]`,
    `command = ${text(process.execPath)}`,
    `args = [${[program, ...args].map(text).join(', ')}]`,
    ...(variables.length > 0 ? [`env = { ${variables.join(', ')} }`] : []),
    '',
  ].join('\n')
}

/** A basic TOML string, which JSON's escapes fit; a path that looks like a variable is not one. */
function text(value) {
  return JSON.stringify(value.replaceAll('${', '$${')).replaceAll('\u007f', '\\u007f')
}

function writeOnce(file, content) {
  if (!existsSync(file)) writeFileSync(file, content)
}
