import type { Command } from 'commander'
import type { Cli } from '../cli.js'

/** Imports a verb's module. Called only when the verb runs, so that start-up loads the command line and nothing else. */
export type Load<Args extends unknown[]> = () => Promise<{ run: (cli: Cli, ...args: Args) => Promise<number> }>

/** Makes the action of a command: the module's `run` gets the command's arguments in order, its own options last. */
export type VerbRunner = <Args extends unknown[]>(load: Load<Args>) => (...given: [...Args, Command]) => Promise<void>
