import { outsidersOf } from './outsiders.js'

/**
 * The group that a started process leads. Its number is the leader's pid, and stays ours while the leader was not
 * collected or anybody carries it.
 */
export class ProcessGroup {
  readonly leader: number
  #leaderIs: 'running' | 'collected' = 'running'

  constructor(leader: number) {
    this.leader = leader
  }

  leaderCollected(): void {
    this.#leaderIs = 'collected'
  }

  /** Whether anybody of the group runs. */
  exists(): boolean {
    return this.#isOurs() && signal(-this.leader, 0)
  }

  /** Signals everybody of the group; false when nobody is left. */
  signal(name: 'SIGINT'): boolean {
    return this.#isOurs() && signal(-this.leader, name)
  }

  /** SIGKILL to everybody of the group and to what left it. The latter first: a parent that ends would hide its child. */
  killTree(): void {
    if (!this.#isOurs()) return
    for (const pid of outsidersOf(this.leader)) signal(pid, 'SIGKILL')
    signal(-this.leader, 'SIGKILL')
  }

  /** The system gives no pid out that a group carries: a living process of that number, after ours, is a stranger. */
  #isOurs(): boolean {
    return this.#leaderIs === 'running' || !signal(this.leader, 0)
  }
}

function signal(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, name)
    return true
  } catch {
    // Gone, or not ours to signal: either way nothing can be done.
    return false
  }
}
