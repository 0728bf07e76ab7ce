import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { launch, requireSameAuthority } from 'reeve/sandbox'
import { end, start } from './running.mjs'

/** Characters that are kept of what one line prints. */
const MOST = 262_144

/**
 * A shell that stays between calls. It keeps the sandbox that it was started in, so that a call under another policy is
 * refused: neither a stricter caller nor a laxer one gets what the first had.
 */
export class Shell {
  ended = false
  #sandbox
  #child
  #kind
  #onLine = () => {}
  #onEnd = () => {}
  #turn = Promise.resolve()

  constructor(sandbox, { optOut }) {
    const what = launch(sandbox, ['/bin/sh'], { optOut })
    this.#sandbox = sandbox
    this.#kind = what.sandbox
    this.#child = start(what)
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#onLine(line))
    this.#child.stderr.resume()
    const ended = () => {
      this.ended = true
      this.#onEnd()
    }
    this.#child.on('close', ended)
    this.#child.on('error', ended)
  }

  /** One line after the other; what a line prints on stderr comes with the rest. */
  run(sandbox, line, signal) {
    requireSameAuthority(this.#sandbox, sandbox)
    const turn = this.#turn.then(() => this.#run(line, signal))
    this.#turn = turn.catch(() => {})
    return turn
  }

  end() {
    this.ended = true
    end(this.#child)
  }

  #run(line, signal) {
    const mark = randomUUID()
    let printed = ''
    return new Promise((resolve, reject) => {
      const stop = () => this.end()
      const finish = (outcome) => {
        signal.removeEventListener('abort', stop)
        outcome === undefined ? reject(new Error('the shell ended')) : resolve(outcome)
      }
      this.#onEnd = () => finish(undefined)
      this.#onLine = (text) => {
        const [, exitCode] = text.endsWith(mark) ? text.split(' ').slice(-3) : []
        if (exitCode === undefined) printed = `${printed}${text}\n`.slice(0, MOST)
        else
          finish({
            exitCode: Number(exitCode),
            stdout: printed.replace(/\n{1,2}$/, ''),
            stderr: '',
            sandbox: this.#kind,
          })
      }
      if (signal.aborted || this.ended) return finish(undefined)
      signal.addEventListener('abort', stop)
      this.#child.stdin.write(`{ ${line}\n} 2>&1 </dev/null\nprintf '\\n %s %s\\n' "$?" ${mark}\n`)
    })
  }
}
