// The gateway, shown from outside.
import { installPeers } from '../install-peers.mjs'
import { setUp } from '../setup.mjs'
import { benchmark } from './gateway/benchmark.mjs'
import { clients } from './gateway/clients.mjs'
import { coldList } from './gateway/cold-list.mjs'
import { inspector } from './gateway/inspector.mjs'
import { orphans } from './gateway/orphans.mjs'
import { vectors } from './gateway/vectors.mjs'
import { verbs } from './gateway/verbs.mjs'
import { runParts } from './parts/run-parts.mjs'

const PARTS = [
  ['npm start, and the Inspector through HTTP and stdio', inspector],
  ['Real clients through the gateway', clients],
  ['Golden cases', vectors],
  ['The command line on the demo servers', verbs],
  ['A cold list against an empty Node', coldList],
  ['Processes left behind', orphans],
  ['Beside other gateways (quick run)', benchmark],
]
const PEERS = ['inspector', 'mcporter', 'mcp-remote', 'codex', 'claude-code', 'gemini-cli', 'opencode']

/** @returns {Promise<boolean>} whether every part came out well */
export async function show() {
  await setUp()
  await installPeers(PEERS)
  return await runParts(PARTS)
}
