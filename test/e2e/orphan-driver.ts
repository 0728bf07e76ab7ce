// A small program that owns a local environment, as the command line does. Bundled and run by orphan-matrix.ts:
//   node driver.mjs HOME JSON-of-{program,args}
// It passes on the server's stderr, and obeys one word on stdin: stop, exit or throw.
import { once } from 'node:events'
import { installExitGuard } from '../../src/environments/exit-guard.js'
import { LocalEnvironment } from '../../src/environments/local.js'

const [home = '', server = '{}'] = process.argv.slice(2)
const http = { request: () => Promise.reject(new Error('no HTTP here')), close: async () => {} }
const environment = new LocalEnvironment({ http, home, termGraceMs: 300 })
installExitGuard(environment)

const spawned = await environment.spawn({ ...JSON.parse(server), env: { ...process.env }, label: 'stubborn' })
spawned.onstderr = (chunk) => process.stderr.write(chunk)

const [word] = await once(process.stdin, 'data')
if (String(word) === 'throw') throw new Error('an error that nobody catches')
if (String(word) === 'stop') await environment.close()
process.exit(0)
