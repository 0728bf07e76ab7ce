import { serveFromBroker } from './broker/serve-stdio.js'
import type { PlainVerb } from './cold-broker.js'
import { plainArguments } from './plain-arguments.js'

/** `serve --stdio`. */
export function plainServing(args: readonly string[]): PlainVerb | undefined {
  const plain = plainArguments(args.filter((arg) => arg !== '--stdio'))
  const [verb, ...more] = plain?.words ?? []
  if (plain === undefined || verb !== 'serve' || more.length > 0) return undefined
  if (args.indexOf('--stdio') < args.indexOf('serve')) return undefined
  return { options: plain.options, run: (cli) => serveFromBroker(cli, {}) }
}
