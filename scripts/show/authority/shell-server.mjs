// `examples/shell-server` under three callers: the real Codex, Reeve with the launcher of Codex, and Reeve with its own.
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codexProgram } from '../environments/exec-server.mjs'
import { outcomes } from '../eras/outcomes.mjs'
import { cleanEnvironment, REEVE, root } from '../gateway/commands.mjs'
import { startAppServer } from './app-server.mjs'

const quote = (text) => JSON.stringify(text)

export async function shellServer(folder) {
  const world = await openWorld(folder)
  const codex = await codexProgram()
  await transcript('Codex', world, 'codex', await codexCaller(world))
  await transcript('Reeve, launcher of Codex', world, 'codex', await reeveCaller(world, { launcher: codex }))
  const ours = { launcher: process.execPath, commandLine: REEVE[1] }
  await transcript('Reeve, launcher of Reeve', world, 'reeve', await reeveCaller(world, ours))
  console.log()
  await outcomes('the server under its callers', 'test/clients/shell-server')
}

/** The server with nothing of Reeve beside it but the package; a folder that it may write in, and one that it may not. */
async function openWorld(folder) {
  const at = (name) => join(folder, name)
  // Whoever tried the example has installed it: what it is tried with here is this build.
  const from = join(root, 'examples', 'shell-server')
  const filter = (path) => !path.startsWith(join(from, 'node_modules'))
  await cp(from, at('server'), { recursive: true, filter })
  await mkdir(at('server/node_modules'))
  await symlink(root, at('server/node_modules/reeve'))
  for (const name of ['workspace', 'outside', 'codex', 'reeve']) await mkdir(at(name))
  return {
    script: at('server/server.mjs'),
    workspace: at('workspace'),
    outside: at('outside'),
    codexHome: at('codex'),
    reeveHome: at('reeve'),
    shorten: (text) => text.replaceAll(`${folder}/`, '').trim(),
  }
}

async function transcript(title, world, launcher, { call, stop }) {
  console.log(`# ${title}`)
  try {
    for (const place of ['workspace', 'outside']) {
      const file = join(world[place], `${title.replaceAll(/\W+/g, '-')}.txt`)
      const command = ['/bin/sh', '-c', 'echo written > "$1" && cat "$1"', 'sh', file]
      console.log(`> run sh: write and read ${world.shorten(file)}`)
      const { exitCode, stdout = '', stderr = '', sandbox, refused } = await call({ command })
      const told = refused === undefined ? `exit ${exitCode}: ${stdout || stderr}` : `refused: ${refused}`
      console.log(`    ${world.shorten(told)}   (in the sandbox of ${sandbox})`)
      const mayWrite = place === 'workspace'
      if (sandbox !== launcher) throw new Error(`${title}: not in the sandbox of ${launcher}`)
      if ((exitCode === 0) !== mayWrite || existsSync(file) !== mayWrite)
        throw new Error(`${title}: ${mayWrite ? 'could not write in' : 'wrote beyond'} the workspace`)
    }
  } finally {
    await stop()
  }
}

function entry({ script, codexHome }) {
  return `[mcp_servers.shell]
command = ${quote(process.execPath)}
args = [${quote(script)}]
env = { CODEX_HOME = ${quote(codexHome)} }
`
}

async function codexCaller(world) {
  // No model is asked.
  const model = `model = "gpt-5.4"
model_provider = "none"
[model_providers.none]
name = "none"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
`
  await writeFile(join(world.codexHome, 'config.toml'), `${model}${entry(world)}`)
  const codex = await startAppServer(world.codexHome)
  const { thread } = await codex.request('thread/start', {
    cwd: world.workspace,
    approvalPolicy: 'never',
    sandbox: 'workspace-write',
  })
  const call = async (args) => {
    const params = { threadId: thread.id, server: 'shell', tool: 'run', arguments: args }
    return (await codex.request('mcpServer/tool/call', params)).structuredContent
  }
  return { call, stop: codex.stop }
}

async function reeveCaller(world, { launcher, commandLine }) {
  const { Reeve } = await import(pathToFileURL(join(root, 'dist', 'reeve.js')).href)
  const config = `launcher = ${quote(launcher)}\n${entry(world)}default_tools_approval_mode = "approve"\n`
  await writeFile(join(world.reeveHome, 'config.toml'), config)
  const reeve = await Reeve.open({
    home: world.reeveHome,
    cwd: world.workspace,
    env: { ...cleanEnvironment(world.reeveHome), CODEX_HOME: world.codexHome },
    ...(commandLine !== undefined && { commandLine }),
  })
  const thread = await reeve.startThread({
    environments: [{ id: 'local', cwd: world.workspace, permissions: workspaceWrite(world.workspace) }],
  })
  const call = async (args) =>
    (await thread.callTool({ server: 'shell', tool: 'run', arguments: args })).structuredContent
  return { call, stop: () => reeve.close() }
}

function workspaceWrite(workspace) {
  return {
    type: 'managed',
    file_system: {
      type: 'restricted',
      entries: [
        { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
        { path: { type: 'path', path: workspace }, access: 'write' },
      ],
    },
    network: 'restricted',
  }
}
