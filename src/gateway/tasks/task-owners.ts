import { keyText } from '../../identity/index.js'
import { invalidParams } from '../relay/params.js'
import type { OwnedTask, TaskNames } from './names.js'

/** Tasks that are known at most; the oldest are forgotten first. */
const KNOWN = 16_384

/**
 * Which principals were told of which tasks. A server that all of them use with one account can't tell them apart; here
 * a task that somebody else was told of is none. Several may have a task of one id, each at a server of their own.
 */
export class TaskOwners {
  readonly #principals = new Map<string, Set<string>>()

  /** What a principal calls tasks. */
  names(names: TaskNames, principal: string): TaskNames {
    const isForeign = (task: OwnedTask) => this.#principals.get(slotOf(task))?.has(principal) === false
    return Object.freeze({
      nameOf: (task: OwnedTask) => {
        this.#note(slotOf(task), principal)
        return names.nameOf(task)
      },
      ownerOf: (name: string) => {
        const task = names.ownerOf(name)
        if (isForeign(task)) throw invalidParams('Unknown task', { code: 'unknown_task' })
        return task
      },
      isForeign,
    })
  }

  #note(slot: string, principal: string): void {
    const known = this.#principals.get(slot)
    if (known !== undefined) known.add(principal)
    else this.#principals.set(slot, new Set([principal]))
    const [oldest] = this.#principals.size > KNOWN ? this.#principals.keys() : []
    if (oldest !== undefined) this.#principals.delete(oldest)
  }
}

function slotOf({ key, id }: OwnedTask): string {
  return JSON.stringify([keyText(key), id])
}
