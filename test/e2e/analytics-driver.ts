// A runtime that makes one call of a model and is then killed. Bundled and run by analytics-kill.test.ts:
//   node driver.mjs HOME CONFIG PORT THREAD (queue | deliver)
// It says `queued` once the call is made; with `deliver` it then ends the thread, which delivers what there is.
import { Reeve } from '../../src/reeve.js'

const [home = '', config = '', port = '', thread = '', end = 'queue'] = process.argv.slice(2)
const reeve = await Reeve.open({
  home,
  cwd: home,
  configFiles: [config],
  credentials: { from: 'home' },
  analytics: { enabled: true },
  firstParty: { route: () => ({ host: '127.0.0.1', port: Number(port) }) },
})
const resumed = await reeve.resumeThread(thread, { ...(reeve.auth && { auth: reeve.auth }) })
const step = await resumed.step({ wait: 'all' })
const [tool] = step.tools
if (tool === undefined) throw new Error('no tool')
await step.call({ namespace: tool.namespace, name: tool.name, arguments: {} })
process.stdout.write('queued\n')
if (end === 'deliver') await resumed.close()
setInterval(() => {}, 1000)
