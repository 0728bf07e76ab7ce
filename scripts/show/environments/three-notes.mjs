// Two real executors and this machine, each with a plugin whose server is called `notes`: what a program that uses the library
// sees, also while one of the executors is gone.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../gateway/commands.mjs'
import { startExecServer } from './exec-server.mjs'
import { Heard } from './heard.mjs'

const SERVER = join(root, 'test', 'clients', 'differential', 'notes-server.mjs')
const PLACES = ['enva', 'envb', 'local']
const URI = 'note://shared/one'

export async function threeNotes() {
  // Not in the temporary folder: Codex does not work from a home under a world-writable one.
  await mkdir(join(root, '.cache', 'homes'), { recursive: true })
  const folder = await mkdtemp(join(root, '.cache', 'homes', 'three-notes-'))
  const executors = []
  try {
    for (const id of ['enva', 'envb']) executors.push(await startExecServer(join(folder, `codex-${id}`)))
    await tell(folder, executors)
  } finally {
    await Promise.all(executors.map((executor) => executor.stop()))
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function tell(folder, [enva, envb]) {
  const { Reeve } = await import(pathToFileURL(join(root, 'dist', 'reeve.js')).href)
  const home = join(folder, 'home')
  await mkdir(home)
  await writeFile(join(home, 'environments.toml'), environmentsFile({ enva: enva.url, envb: envb.url }))
  const capabilityRoots = await Promise.all(PLACES.map((place) => writePlugin(folder, place)))
  const reeve = await Reeve.open({ home, configFiles: [], cwd: folder, features: { multi_environment_mcp: true } })
  try {
    const heard = new Heard()
    const thread = await reeve.startThread({
      environments: PLACES.map((id) => ({ id, cwd: join(folder, id) })),
      capabilityRoots,
      onEvent: (event) => heard.take(event),
    })
    await listCallAndRead(thread)
    await losing(envb, thread, heard)
    await comingBack(envb, thread, heard)
  } finally {
    await reeve.close()
  }
}

/** Every one of the three answers for its own place. */
async function listCallAndRead(thread) {
  const step = await thread.step({ wait: 'all' })
  console.log('> namespaces of the step')
  for (const { name, description, tools } of step.namespaces)
    console.log(`    ${name}  (${description.split('\n')[0]})  ${tools.map((tool) => tool.name).join(', ')}`)
  if (step.namespaces.length !== PLACES.length) throw new Error(`${step.namespaces.length} namespaces`)
  for (const { name, key } of step.namespaces) {
    const { content } = await step.call({ namespace: name, name: 'whoami', arguments: {} })
    console.log(`> call ${name} whoami\n    ${content[0].text}`)
    if (JSON.parse(content[0].text).place !== key.environment) throw new Error(`not of ${key.environment}`)
  }
  for (const environment of PLACES) {
    const { output } = await step.callFunction('read_mcp_resource', {
      server: 'notes',
      environment_id: environment,
      uri: URI,
    })
    console.log(`> read_mcp_resource notes in ${environment} ${URI}\n    ${output}`)
    const { environment_id, contents } = JSON.parse(output)
    if (environment_id !== environment || contents[0].text !== `${URI} of ${environment}`)
      throw new Error(`not of ${environment}`)
  }
  rows(thread)
}

async function losing(executor, thread, heard) {
  console.log('\n# the executor of envb is killed')
  const before = heard.now
  await executor.kill()
  const gone = ({ type, environment, status }) =>
    type === 'environment' && environment === 'envb' && status === 'disconnected'
  const { error } = await heard.until('envb is told to be gone', gone, before)
  console.log(`< envb is disconnected: ${error}`)
  const refusal = await whoami(thread, 'envb').then(
    () => undefined,
    (failure) => failure,
  )
  if (typeof refusal?.code !== 'string') throw new Error(`no typed error: ${refusal}`)
  console.log(`> call notes in envb whoami\n    ${refusal.code}: ${refusal.message}`)
  for (const environment of ['enva', 'local'])
    console.log(`> call notes in ${environment} whoami\n    ${await whoami(thread, environment)}`)
  rows(thread)
}

async function comingBack(executor, thread, heard) {
  console.log('\n# and comes back where it was')
  const before = heard.now
  await executor.restart()
  const up = ({ type, key, status }) => type === 'status' && key.environment === 'envb' && status === 'ready'
  await heard.until('notes in envb is up again', up, before)
  console.log('< notes in envb is up again, without a reload')
  await listCallAndRead(thread)
}

async function whoami(thread, environment) {
  const { content } = await thread.callTool({ server: 'notes', environment, tool: 'whoami' })
  return content[0].text
}

function rows(thread) {
  console.log('> status')
  for (const { key, status, tools, error } of thread.servers())
    console.log(
      `    ${key.name} in ${key.environment}: ${status}, ${tools ?? 0} tools${error ? `: ${error.message}` : ''}`,
    )
}

function environmentsFile(urls) {
  const entries = Object.entries(urls).map(
    ([id, url]) => `[[environments]]\nid = ${JSON.stringify(id)}\nurl = ${JSON.stringify(url)}\n`,
  )
  return `include_local = true\n${entries.join('')}`
}

/** The folder's name is what the server says when it is asked who it is. */
async function writePlugin(folder, environment) {
  const path = join(folder, environment)
  await mkdir(join(path, '.codex-plugin'), { recursive: true })
  const plugin = { name: 'notes', version: '1.0.0', description: 'notes', mcpServers: './.mcp.json' }
  await writeFile(join(path, '.codex-plugin', 'plugin.json'), JSON.stringify(plugin))
  const mcpServers = { notes: { command: process.execPath, args: [SERVER] } }
  await writeFile(join(path, '.mcp.json'), JSON.stringify({ mcpServers }))
  return { id: `notes@${environment}`, environment, path }
}
