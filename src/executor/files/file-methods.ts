import type { Caller } from '../connection.js'
import type { Method } from '../methods.js'
import { invalidParams, systemFault } from '../wire/fault.js'
import { Params } from '../wire/params.js'
import { blockMethods } from './blocks.js'
import { contentMethods } from './content.js'
import { treeMethods } from './trees.js'

/** What a file method does; a system error becomes an answer of the protocol. */
export type FileWork = (params: Params, caller: Caller) => Promise<object>

/** `fs/*` (reference: executor-protocol, 8). */
export function fileMethods(): readonly (readonly [string, Method])[] {
  return Object.entries({ ...contentMethods, ...blockMethods, ...treeMethods }).map(([name, work]) => [
    `fs/${name}`,
    { order: 'holds', run: (params, caller) => answered(work, new Params(params), caller) },
  ])
}

async function answered(work: FileWork, params: Params, caller: Caller) {
  if (params.has('sandbox')) throw invalidParams('this executor has no sandbox: leave it out or null')
  try {
    return { result: await work(params, caller) }
  } catch (error) {
    throw systemFault(error)
  }
}
