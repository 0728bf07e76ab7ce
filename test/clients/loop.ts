import type { Script } from '../standins/script.js'

/** A whole agent loop: a call with arguments, then one whose result tells which of the two servers it reached. */
export const LOOP: Script = [
  { tool: 'beta__echo', arguments: { message: 'over here' } },
  { tool: 'beta__process', arguments: {} },
]

/** The end of the loop: the model quotes the second result, which holds the server's own command line. */
export const SAID = /The tool said: .*--name\W+beta/s
