// A program that serves the home in REEVE_HOME over stdio, as the command line does.
import { serveStdio } from '../../../src/gateway/index.js'
import { Reeve } from '../../../src/reeve.js'

const reeve = await Reeve.open()
const serving = await serveStdio({
  startThread: (thread) => reeve.startThread(thread),
  version: '9.9.9',
  onWarning: (warning) => console.error(`warning: ${warning.message}`),
})
console.error('serving')
if (process.env.SAY !== undefined) console.log(process.env.SAY)
await serving.closed
await reeve.close()
