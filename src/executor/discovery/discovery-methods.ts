import type { Method } from '../methods.js'
import type { Variables } from '../processes/env-policy.js'
import { systemFault } from '../wire/fault.js'
import { Params } from '../wire/params.js'
import { readConfig } from './config.js'
import { homesOf } from './homes.js'
import { discoverInstalled } from './installed.js'
import { discoverRoots } from './roots.js'

/** What this machine offers beside its files and processes (reference: executor-protocol, 9). */
export function discoveryMethods(variables: Variables): readonly (readonly [string, Method])[] {
  const homes = homesOf(variables)
  return [
    ['capabilityRoots/discoverV1', method(discoverRoots)],
    ['capabilities/discoverV2', method((params) => discoverInstalled(params, homes))],
    ['environmentConfig/read', method((params) => readConfig(params, homes, variables))],
  ]
}

function method(work: (params: Params) => Promise<object>): Method {
  return {
    order: 'waits',
    async run(params) {
      try {
        return { result: await work(new Params(params)) }
      } catch (error) {
        throw systemFault(error)
      }
    },
  }
}
