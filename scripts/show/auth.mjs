// Whose credentials go where, shown from outside: totals, counts, request logs, and a search for what must stand nowhere.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { installPeers } from '../install-peers.mjs'
import { setUp } from '../setup.mjs'
import { conformance } from './auth/conformance.mjs'
import { cost } from './auth/cost.mjs'
import { demonstration } from './auth/demonstration.mjs'
import { differential } from './auth/differential.mjs'
import { interleavings } from './auth/interleavings.mjs'
import { refreshes } from './auth/refreshes.mjs'
import { secrets } from './auth/secrets.mjs'
import { root } from './gateway/commands.mjs'
import { vectors } from './gateway/vectors.mjs'
import { runParts } from './parts/run-parts.mjs'

/** The cases of runtime-auth.json are spread over several files of tests. */
const isOfAuth = (name) => name === 'analytics' || /^runtime-auth(-|$)/.test(name)

/** @returns {Promise<boolean>} whether every part came out well */
export async function show() {
  await setUp({ demo: false })
  await installPeers(['codex', 'conformance'])
  // Not in the temporary folder: Codex does not work from a home under a world-writable one.
  await mkdir(join(root, '.cache', 'homes'), { recursive: true })
  const folder = await mkdtemp(join(root, '.cache', 'homes', 'auth-'))
  const shown = demonstration(folder)
  try {
    return await runParts([
      ['Golden cases', () => vectors(isOfAuth)],
      ['Conformance, the scenarios of auth', () => conformance(folder)],
      ['One login, sixteen processes, twenty expiries', () => refreshes(folder)],
      ['One long connection', () => shown.longConnection()],
      ['Two actors that were taken up again: what each delivers', () => shown.resumedActors()],
      ['A file in a call, in both modes', () => shown.uploads()],
      ['The real Codex and Reeve on the same backend', () => differential(folder)],
      ['Whatever changes a credential, at once with calls', () => interleavings(folder)],
      ['What auth for each operation costs', cost],
      ['The command line, with everything logged', () => shown.commandLine()],
      ['What all that left behind, searched for every secret', () => secrets(folder)],
    ])
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
