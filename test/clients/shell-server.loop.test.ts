import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startResponsesModel } from '../standins/openai-responses.js'
import { codexModel } from './codex-home.js'
import { PEER } from './peers.js'
import { run, succeed } from './program.js'
import { openShellServerWorld, writing } from './shell-server.js'

const quote = (text: string) => JSON.stringify(text)

it('lets a model of Codex write in the workspace, and nowhere else', async ({ skip }) => {
  await using world = await openShellServerWorld('shell-server-loop')
  const { home, server, workspace, outside } = world
  const { command, args } = PEER.codex()
  const env = { ...home.env, CODEX_HOME: home.folder }
  const [inside, beyond] = [join(workspace, 'inside.txt'), join(outside, 'beyond.txt')]
  await using model = await startResponsesModel([
    { tool: 'run', arguments: writing(inside) },
    { tool: 'run', arguments: writing(beyond) },
  ])
  await writeFile(
    join(home.folder, 'config.toml'),
    `${codexModel(model.url)}[mcp_servers.shell]
command = ${quote(process.execPath)}
args = [${quote(server)}]
env = { CODEX_HOME = ${quote(home.folder)} }
startup_timeout_sec = 60
default_tools_approval_mode = "approve"
`,
  )
  const state = { permissionProfile: { type: 'external', network: 'restricted' }, sandboxCwd: `file://${workspace}` }
  const trial = await run(
    { command, args: [...args, 'sandbox', '--sandbox-state-json', JSON.stringify(state), '--', 'true'] },
    { env, cwd: workspace },
  )
  if (trial.code !== 0) skip(`codex sandbox does not work here: ${trial.stderr}`)
  const flags = ['exec', '--skip-git-repo-check', '--sandbox', 'workspace-write']
  const printed = await succeed({ command, args: [...args, ...flags, 'Write two files.'] }, { env, cwd: workspace })
  expect(printed).toContain('Read-only file system')
  expect(existsSync(inside)).toBe(true)
  expect(existsSync(beyond)).toBe(false)
})
