import type { AddOutcome } from '../../config/index.js'
import type { Cli } from '../cli.js'

const WORDS: Readonly<Record<AddOutcome, string>> = {
  added: 'added',
  merged: 'changed',
  replaced: 'replaced',
  unchanged: 'nothing to change:',
}

/** Tells what became of an entry that was to be added. */
export function tellOutcome(
  cli: Cli,
  named: { readonly name: string } | { readonly id: string },
  outcome: AddOutcome,
  file: string,
): void {
  const shown = 'id' in named ? named.id : named.name
  if (cli.json) cli.out.json({ ...named, outcome, file })
  else cli.out.line(`${WORDS[outcome]} '${shown}' in ${file}`)
}
