// Servers in several environments, shown from outside.
import { installPeers } from '../install-peers.mjs'
import { setUp } from '../setup.mjs'
import { installSystemPackages } from '../system-packages.mjs'
import { differential } from './environments/differential.mjs'
import { executors } from './environments/executors.mjs'
import { latency } from './environments/latency.mjs'
import { threeNotes } from './environments/three-notes.mjs'
import { vectors } from './gateway/vectors.mjs'
import { runParts } from './parts/run-parts.mjs'

const PARTS = [
  ['Three servers called notes, on two real executors and here', threeNotes],
  ['Executors of our own: under the real Codex, and over ssh', executors],
  ['Golden cases', vectors],
  ['The real Codex and Reeve, asked the same', differential],
  ['What a call through an executor costs', latency],
]

/** @returns {Promise<boolean>} whether every part came out well */
export async function show() {
  await setUp({ demo: false })
  await installPeers(['codex'])
  await installSystemPackages(['openssh-server', 'openssh-client'])
  return await runParts(PARTS)
}
