// Who may do what, shown from outside: approvals, hooks, sandboxed commands, and the audit.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { installPeers } from '../install-peers.mjs'
import { setUp } from '../setup.mjs'
import { installSystemPackages } from '../system-packages.mjs'
import { approvals } from './authority/approvals.mjs'
import { audit } from './authority/audit.mjs'
import { sandboxes } from './authority/sandboxes.mjs'
import { sequences } from './authority/sequences.mjs'
import { shellServer } from './authority/shell-server.mjs'
import { states } from './authority/states.mjs'
import { root } from './gateway/commands.mjs'
import { vectors } from './gateway/vectors.mjs'
import { runParts } from './parts/run-parts.mjs'

const VECTORS = ['approvals', 'elicitations', 'handshake', 'hooks', 'sandbox', 'sandbox-metadata']

/** @returns {Promise<boolean>} whether every part came out well */
export async function show() {
  await setUp({ demo: false })
  await installPeers(['codex'])
  await installSystemPackages(['bubblewrap'])
  // Not in the temporary folder: Codex does not work from a home under a world-writable one.
  await mkdir(join(root, '.cache', 'homes'), { recursive: true })
  const folder = await mkdtemp(join(root, '.cache', 'homes', 'authority-'))
  try {
    return await runParts([
      ['Golden cases', () => vectors((name) => VECTORS.includes(name))],
      ['`codex sandbox` and `reeve sandbox`, asked the same', sandboxes],
      ['What servers are told that commands may do, on every way to them', states],
      ['A server that runs commands, called by the real Codex and by Reeve', () => shellServer(join(folder, 'shell'))],
      ['Two servers of one name: what is approved, and for how long', () => approvals(join(folder, 'notes'))],
      ['Approvals against a model of their rules', () => sequences(join(folder, 'sequences'))],
      ['`reeve audit` of that run', () => audit(join(folder, 'notes'))],
    ])
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
