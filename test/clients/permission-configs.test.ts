import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { Reeve } from '../../src/reeve.js'
import { clientHome } from './client-home.js'
import { startCodexAppServer } from './codex-app-server.js'
import { codexModel } from './codex-home.js'

const SERVER = fileURLToPath(new URL('../fixtures/sandbox/state-server.mjs', import.meta.url))
const Result = z.looseObject({ content: z.tuple([z.looseObject({ text: z.string() })]) })
const Started = z.looseObject({ thread: z.looseObject({ id: z.string() }) })
const State = z.looseObject({
  permissionProfile: z.looseObject({
    type: z.string(),
    network: z.string().optional(),
    file_system: z.looseObject({ entries: z.array(z.json()), glob_scan_max_depth: z.number().optional() }).optional(),
  }),
})

/** What a server was told: the entries without those that are there twice, whose order says nothing. */
function told(result: unknown): object {
  const { state } = z.object({ state: z.string() }).parse(JSON.parse(Result.parse(result).content[0].text))
  const { type, network, file_system } = State.parse(JSON.parse(state)).permissionProfile
  const entries = [...new Set(file_system?.entries.map((entry) => JSON.stringify(entry)))].sort()
  return { type, network, entries, depth: file_system?.glob_scan_max_depth }
}

const MINE = `[permissions.mine]
extends = ":workspace"
[permissions.mine.workspace_roots]
"/srv/more" = true
"/srv/off" = false
[permissions.mine.filesystem]
glob_scan_max_depth = 3
"~/.ssh" = "deny"
":tmpdir" = "read"
"/opt/**/*.key" = "deny"
[permissions.mine.filesystem.":workspace_roots"]
"private" = "deny"
"**/*.env" = "deny"
"sub/**" = "read"
[permissions.mine.network]
enabled = true
`
const WRITING = `[sandbox_workspace_write]
writable_roots = ["/srv/more", "beside", "~/x"]
network_access = true
exclude_slash_tmp = true
`

it.each<[string, string, string]>([
  ['nothing', '', ''],
  ['a mode', 'sandbox_mode = "danger-full-access"', ''],
  ['a mode, and what it allows beside', 'sandbox_mode = "workspace-write"', WRITING],
  ['a preset', 'default_permissions = ":workspace"', ''],
  ['a profile', 'default_permissions = "mine"', MINE],
  ['both', 'sandbox_mode = "read-only"\ndefault_permissions = "mine"', MINE],
])('Codex and Reeve tell servers the same where the configuration says %s', async (_name, top, sections) => {
  await using home = await clientHome('permission-configs')
  const workspace = join(home.folder, 'workspace')
  // Codex mounts what the profile names, and fails where two of its helpers make and remove what is missing at once.
  for (const folder of ['sub', 'private']) await mkdir(join(workspace, folder), { recursive: true })
  const server = `[mcp_servers.state]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}]\n`
  const env = { ...home.env, CODEX_HOME: home.folder }
  await writeFile(join(home.folder, 'config.toml'), `${top}\n${codexModel()}${sections}${server}`)
  await using codex = await startCodexAppServer({ env, cwd: workspace })
  const { thread } = Started.parse(await codex.request('thread/start', { cwd: workspace }))
  const call = { threadId: thread.id, server: 'state', tool: 'told', arguments: {} }
  const theirs = told(await codex.request('mcpServer/tool/call', call))
  await writeFile(join(home.folder, 'config.toml'), `launcher = "none"\n${top}\n${sections}${server}`)
  await using reeve = await Reeve.open({ home: home.folder, cwd: workspace, env })
  expect(reeve.problems.filter(({ severity }) => severity === 'error')).toEqual([])
  await using ours = await reeve.startThread()
  expect(told(await ours.callTool({ server: 'state', tool: 'told' }))).toEqual(theirs)
})
