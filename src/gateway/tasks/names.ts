import { type ServerKey, sameKey } from '../../identity/index.js'
import type { Thread } from '../../threads/index.js'
import { invalidParams } from '../relay/params.js'
import { parseOwned, qualifyOwned } from '../uris.js'

/** A task as its server knows it, and whose it is. */
export interface OwnedTask {
  readonly key: ServerKey
  readonly id: string
}

/** What a client calls the tasks of servers. */
export interface TaskNames {
  nameOf(task: OwnedTask): string
  /** @throws RpcError -32602 for a name that is none of a server that is here */
  ownerOf(name: string): OwnedTask
  /** Another principal was told of it, and this one was not. */
  isForeign?(task: OwnedTask): boolean
}

/** Several servers behind one: `reeve-task://<server>[@<environment>]/<id>`, as it is for URIs. */
export function qualifiedTasks(thread: Thread): TaskNames {
  return Object.freeze({
    nameOf: ({ key, id }: OwnedTask) => qualifyOwned(SCHEME, key, id),
    ownerOf: (name: string) => {
      const owned = parseOwned(SCHEME, name)
      const known = owned && thread.servers().some(({ key }) => sameKey(key, owned.key))
      if (owned === undefined || !known) throw invalidParams('Unknown task', { code: 'unknown_task' })
      return { key: owned.key, id: owned.uri }
    },
  })
}

/** One server, whose ids are the client's. */
export function unchangedTasks(key: ServerKey): TaskNames {
  return Object.freeze({
    nameOf: ({ id }: OwnedTask) => id,
    ownerOf: (id: string) => ({ key, id }),
  })
}

const SCHEME = 'reeve-task://'
