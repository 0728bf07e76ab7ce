import type { ExecEnvironmentInfo } from '../protocol/index.js'
import type { Caller } from './connection.js'
import { discoveryMethods } from './discovery/discovery-methods.js'
import { fileMethods } from './files/file-methods.js'
import { httpMethods } from './http/http-methods.js'
import type { Variables } from './processes/env-policy.js'
import { processMethods } from './processes/process-methods.js'
import { noParams } from './wire/params.js'

export interface Answer {
  readonly result: object
  /** What begins only when the answer has left. */
  readonly afterwards?: () => void
}

export interface Method {
  /** `waits`: may take as long as somebody else likes, so that requests behind it are not held up. */
  readonly order: 'holds' | 'waits'
  /** @throws RpcError */
  run(params: unknown, caller: Caller): Answer | Promise<Answer>
}

export type Methods = ReadonlyMap<string, Method>

/** Everything that is answered after the handshake (reference: executor-protocol, 5 and 16). */
export function methodsOf(info: ExecEnvironmentInfo, variables: Variables): Methods {
  return new Map<string, Method>([
    ['environment/info', unit(info)],
    ['environment/status', unit({ status: 'ready' })],
    ...processMethods(variables),
    ...httpMethods(variables),
    ...fileMethods(),
    ...discoveryMethods(variables),
  ])
}

function unit(result: object): Method {
  return {
    order: 'holds',
    run(params) {
      noParams(params)
      return { result }
    },
  }
}
