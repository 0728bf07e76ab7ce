import { resolve } from 'node:path'
import type { Cli } from '../cli.js'
import { milliseconds } from '../seconds.js'
import { type EnvironmentOption, selectorOf } from '../selection.js'
import { withServers } from '../session.js'
import { saveMedia, showContent } from '../showing/content.js'

export interface ReadOptions extends EnvironmentOption {
  readonly output?: string
  readonly timeout?: string
}

/** Reads one resource: text as it is, blobs into `--output`. */
export async function run(cli: Cli, name: string, uri: string, options: ReadOptions): Promise<number> {
  const timeoutMs = milliseconds('--timeout', options.timeout)
  const selector = selectorOf(name, options)
  return withServers(cli, selector, async (thread) => {
    const result = await thread.resources.read(
      { ...selector, uri },
      { signal: cli.signal, ...(timeoutMs !== undefined && { timeoutMs }) },
    )
    const contents = Array.isArray(result.contents) ? result.contents : []
    const output = options.output === undefined ? {} : { output: resolve(cli.cwd, options.output) }
    const show = { ...output, label: 'resource' }
    if (cli.json) {
      await saveMedia(cli, contents, show)
      cli.out.json(result)
    } else await showContent(cli, contents, show)
    return 0
  })
}
