// The client under test: this library, with the suite's server (the last argument) as its only one. What to do comes from
// MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT. Ends with 0 once the scenario was driven to its end.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reeve } from '../../dist/reeve.js'
import { answerServer } from './client-answers.mjs'
import { driveScenario } from './client-scenarios.mjs'

const SERVER = 'suite'
const LIMIT_MS = 25_000
const CLIENT = {
  clientInfo: { name: 'reeve-conformance', version: '1.0.0' },
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
}

// Dozens of clients start at once here: the two seconds of a probe are short then, and the suite says the era anyway.
const ERA = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28' ? 'modern' : 'legacy'

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? 'initialize'
const context = { scenario, ...JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') }

// The suite ends a client that takes too long, but not what the client started.
setTimeout(() => {
  console.error(`${scenario}: not done after ${LIMIT_MS} ms`)
  process.exit(1)
}, LIMIT_MS).unref()

const home = await mkdtemp(join(tmpdir(), 'reeve-conformance-'))
try {
  process.exitCode = await drive(process.argv.at(-1), home)
} finally {
  await rm(home, { recursive: true, force: true })
}

async function drive(url, home) {
  const config = join(home, 'config.toml')
  await writeFile(config, `[mcp_servers.${SERVER}]\nurl = ${JSON.stringify(url)}\nprotocol = "${ERA}"\n`)
  const reeve = await Reeve.open({ home, cwd: home, env: {}, configFiles: [config] })
  try {
    const interplay = {}
    const thread = await reeve.startThread({ client: CLIENT, onRequest: (request) => answerServer(request, interplay) })
    await driveScenario(scenario, { reeve, thread, server: SERVER, context, interplay })
    return 0
  } catch (error) {
    console.error(error)
    return 1
  } finally {
    await reeve.close()
  }
}
