import { type ChildProcess, spawn } from 'node:child_process'
import type { ProcessGroup } from './process-group.js'

/**
 * Reads `+ PID` and `- PID` and, when its stdin ends, kills the groups that are left. Its stdin ends when the executor
 * does, by whatever death; the groups then hold their numbers, since each is taken off the list when it has ended.
 */
const SCRIPT = `
groups=' '
while read -r change pid; do
  case $change in
    +) groups="$groups$pid " ;;
    -) case $groups in *" $pid "*) groups="\${groups%% $pid *} \${groups#* $pid }" ;; esac ;;
  esac
done
for pid in $groups; do kill -KILL -"$pid" 2>/dev/null; done
`

/**
 * Lets no process outlive the executor: from the `exit` event while it can still act, and from a shell of its own that
 * sees its end where it cannot (reference: executor-protocol, 6.6; ours covers what a process started, too).
 */
export class DeathWatch {
  readonly #groups = new Set<ProcessGroup>()
  readonly #onExit = () => {
    for (const group of this.#groups) group.killTree()
  }
  #shell: ChildProcess | undefined

  constructor() {
    process.on('exit', this.#onExit)
  }

  add(group: ProcessGroup): void {
    this.#groups.add(group)
    if (process.platform === 'win32') return
    this.#shell ??= startShell()
    this.#shell.stdin?.write(`+ ${group.leader}\n`)
  }

  remove(group: ProcessGroup): void {
    if (!this.#groups.delete(group)) return
    this.#shell?.stdin?.write(`- ${group.leader}\n`)
  }

  /** Kills what is left. */
  close(): void {
    process.off('exit', this.#onExit)
    this.#onExit()
    this.#groups.clear()
    this.#shell?.stdin?.end()
  }
}

/** In a session of its own: a Ctrl-C that ends the executor must not end it first. */
function startShell(): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Where there is no shell the `exit` event is all that there is.
  shell.on('error', () => {})
  shell.stdin.on('error', () => {})
  shell.unref()
  return shell
}
