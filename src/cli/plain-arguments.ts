import type { GlobalOptions } from './cli.js'

/** A command line of words and the most usual options, read as the whole command line would. */
export interface PlainArguments {
  readonly options: GlobalOptions
  readonly words: readonly string[]
  /** Of the further options that were named. */
  readonly values: ReadonlyMap<string, string>
}

/**
 * Undefined for anything else: that is for the whole command line to understand, or to refuse.
 *
 * @param valued further options, each with a value
 */
export function plainArguments(args: readonly string[], valued: readonly string[] = []): PlainArguments | undefined {
  const config: string[] = []
  const options: { json?: boolean; quiet?: boolean; home?: string } = {}
  const words: string[] = []
  const values = new Map<string, string>()
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--json') options.json = true
    else if (arg === '--quiet' || arg === '-q') options.quiet = true
    else if (arg === '--home' || arg === '--config' || valued.includes(arg)) {
      const given = rest.shift()
      if (given === undefined || given.startsWith('-') || values.has(arg)) return undefined
      if (arg === '--home') options.home = given
      else if (arg === '--config') config.push(given)
      else values.set(arg, given)
    } else if (arg.startsWith('-')) return undefined
    else words.push(arg)
  }
  return { options: { ...options, config }, words, values }
}
