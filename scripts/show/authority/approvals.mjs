// A plugin called `notes` on a real executor and the same on this machine, in a program that uses the library: approving the
// tool of one leaves that of the other asking, and an edited command is another server.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startExecServer } from '../environments/exec-server.mjs'
import { cleanEnvironment, head, prompt, REEVE, root, succeed } from '../gateway/commands.mjs'

const SERVER = join(root, 'test', 'clients', 'differential', 'notes-server.mjs')
const PLACES = ['local', 'box']
const TOOL = 'wipe'

/** Leaves its state in `home` of `folder`. */
export async function approvals(folder) {
  await mkdir(join(folder, 'home'), { recursive: true })
  const executor = await startExecServer(join(folder, 'codex'))
  try {
    await writeFile(
      join(folder, 'home', 'environments.toml'),
      `include_local = true\n[[environments]]\nid = "box"\nurl = ${JSON.stringify(executor.url)}\n`,
    )
    for (const place of PLACES) await writePlugin(folder, place)
    await inRuntime(folder, async ({ call }) => {
      await call('local', { answer: 'approve_always' })
      await call('local', { answer: undefined })
      await call('box', { answer: 'decline' })
    })
    await list(folder)
    console.log('# another process, later')
    await inRuntime(folder, async ({ call, reeve, thread }) => {
      await call('local', { answer: undefined })
      await call('box', { answer: 'decline' })
      await writePlugin(folder, 'local', ['--instructions', 'edited'])
      await reeve.reload()
      // A call that comes sooner is one of the old command, which still runs.
      await thread.step({ wait: 'all' })
      console.log('# the command of local is edited')
      await call('local', { answer: 'decline' })
    })
  } finally {
    await executor.stop()
  }
}

/** `answer`: what is said when the call is asked for; undefined when it must not be. */
async function inRuntime(folder, tell) {
  const { Reeve } = await import(pathToFileURL(join(root, 'dist', 'reeve.js')).href)
  const home = join(folder, 'home')
  const reeve = await Reeve.open({
    home,
    configFiles: [],
    cwd: folder,
    env: cleanEnvironment(home),
    features: { multi_environment_mcp: true },
  })
  let answering
  let asked
  try {
    const thread = await reeve.startThread({
      environments: PLACES.map((id) => ({ id, cwd: join(folder, id) })),
      capabilityRoots: PLACES.map((id) => ({ id: `notes@${id}`, environment: id, path: join(folder, id) })),
      approvalPolicy: 'on-request',
      onApproval: async ({ key }) => {
        asked = key.environment
        return answering ?? 'decline'
      },
    })
    const call = async (environment, { answer }) => {
      answering = answer
      asked = undefined
      const outcome = await thread.callTool({ server: 'notes', environment, tool: TOOL, arguments: {} }).then(
        ({ content }) => content[0].text,
        (error) => `${error.code}: ${error.message}`,
      )
      const told = asked === undefined ? 'not asked' : `asked for notes in ${asked}, and told ${answering}`
      console.log(`> call notes in ${environment} ${TOOL}\n    ${told}\n    ${outcome}`)
      if (asked !== (answer === undefined ? undefined : environment))
        throw new Error(`notes in ${environment}: ${told}`)
      if ((answer === 'decline') === outcome.startsWith('nothing to wipe')) throw new Error(outcome)
    }
    await tell({ call, reeve, thread })
  } finally {
    await reeve.close()
  }
}

async function list(folder) {
  const command = [...REEVE, 'approvals', 'list']
  prompt(command)
  const home = join(folder, 'home')
  const listed = await succeed(command, { cwd: folder, env: { ...cleanEnvironment(home), REEVE_HOME: home } })
  console.log(head(listed, 10))
  const rows = listed.trimEnd().split('\n').slice(1)
  if (rows.length !== 1 || !rows[0].includes('local')) throw new Error('what is remembered is not the one of local')
}

async function writePlugin(folder, environment, more = []) {
  const path = join(folder, environment)
  await mkdir(join(path, '.codex-plugin'), { recursive: true })
  const plugin = { name: 'notes', version: '1.0.0', description: 'notes', mcpServers: './.mcp.json' }
  await writeFile(join(path, '.codex-plugin', 'plugin.json'), JSON.stringify(plugin))
  const mcpServers = { notes: { command: process.execPath, args: [SERVER, ...more] } }
  await writeFile(join(path, '.mcp.json'), JSON.stringify({ mcpServers }))
}
