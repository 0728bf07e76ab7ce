// Both eras of the protocol, shown from outside: each part prints a heading and what came out. A part that fails says so; the
// others still run.
import { installPeers } from '../install-peers.mjs'
import { setUp } from '../setup.mjs'
import { broker } from './eras/broker.mjs'
import { conformance } from './eras/conformance.mjs'
import { fidelity } from './eras/fidelity.mjs'
import { matrix } from './eras/matrix.mjs'
import { sameNames } from './eras/same-names.mjs'
import { unbridged } from './eras/unbridged.mjs'

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
  const failed = []
  for (const [title, part] of PARTS) {
    console.log(`\n## ${title}\n`)
    try {
      await part()
    } catch (error) {
      failed.push(title)
      console.log(`FAILED: ${error.message}`)
    }
  }
  console.log(failed.length === 0 ? '\nAll parts came out well.' : `\nFailed: ${failed.join('; ')}`)
  return failed.length === 0
}
