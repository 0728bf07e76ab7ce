// Both eras of the protocol, shown from outside.
import { installPeers } from '../install-peers.mjs'
import { setUp } from '../setup.mjs'
import { broker } from './eras/broker.mjs'
import { conformance } from './eras/conformance.mjs'
import { fidelity } from './eras/fidelity.mjs'
import { matrix } from './eras/matrix.mjs'
import { sameNames } from './eras/same-names.mjs'
import { unbridged } from './eras/unbridged.mjs'
import { runParts } from './parts/run-parts.mjs'

const PARTS = [
  ['The official conformance suite', conformance],
  ['Every client through the gateway to every server', matrix],
  ['One broker a machine', broker],
  ['Same names, same ids', sameNames],
  ['What nobody knows', fidelity],
  ["What can't be bridged", unbridged],
]

/** @returns {Promise<boolean>} whether every part came out well */
export async function show() {
  await setUp({ demo: false })
  await installPeers(['conformance'])
  return await runParts(PARTS)
}
