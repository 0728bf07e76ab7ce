import type { Command } from 'commander'

/** The command line that prints the help of the verb which a command line names: `reeve env add --help`. */
export function helpLine(program: Command, args: readonly string[]): string {
  const words = ['reeve']
  let command: Command | undefined = program
  for (const arg of args) {
    const next: Command | undefined = command.commands.find((known) => known.name() === arg)
    if (next === undefined && arg.startsWith('-')) continue
    if (next === undefined) break
    words.push(arg)
    command = next
  }
  return [...words, '--help'].join(' ')
}
