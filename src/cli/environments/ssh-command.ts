import { UsageError } from '../usage.js'

/** Options of ssh that take a value, as its manual lists them. */
const WITH_VALUE = new Set('BbcDEeFIiJLlmOopQRSWw')

/**
 * No terminal and no question, since nobody could answer: a missing key is then an error at once. And no connection of
 * ours is the master that others hang on, since each ends with the server that it was made for; a master of the user's own
 * is used.
 */
const OURS = ['-T', '-o', 'BatchMode=yes', '-o', 'ControlMaster=no']

const EXECUTOR = ['executor', '--listen', 'stdio']

/**
 * The command that reaches an executor through ssh: `ssh -T … HOST reeve executor --listen stdio`.
 *
 * @param words ssh's options, then the program that is Reeve on the other side (`reeve` when it is left out). The remote
 * shell reads these words, so variables and quotes in them are its own.
 * @throws UsageError for a destination that ssh would take for an option, and an option without its value
 */
export function sshCommand(destination: string, words: readonly string[]): readonly string[] {
  if (destination === '' || destination.startsWith('-') || /\s/.test(destination))
    throw new UsageError(`--ssh takes [USER@]HOST, not '${destination}'`)
  const options = optionsAtStart(words)
  const remote = words.slice(options.length)
  return ['ssh', ...OURS, ...options, destination, ...(remote.length > 0 ? remote : ['reeve']), ...EXECUTOR]
}

function optionsAtStart(words: readonly string[]): readonly string[] {
  let at = 0
  for (let word = words[at]; word?.startsWith('-'); word = words[at]) {
    const letters = [...word.slice(1)]
    const first = letters.findIndex((letter) => WITH_VALUE.has(letter))
    const valueFollows = first !== -1 && first === letters.length - 1
    if (valueFollows && words[at + 1] === undefined) throw new UsageError(`ssh's option ${word} needs a value`)
    at += valueFollows ? 2 : 1
  }
  return words.slice(0, at)
}
