import { resolve } from 'node:path'
import { ReeveError } from '../../errors.js'
import { displayKey, type ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { promptValues } from '../calling/prompt-arguments.js'
import { isObject } from '../calling/schema-type.js'
import type { Cli } from '../cli.js'
import { didYouMean } from '../closest.js'
import { type Listed, listEverything } from '../listing.js'
import { oneLine } from '../printable.js'
import { milliseconds } from '../seconds.js'
import { type EnvironmentOption, selectorOf } from '../selection.js'
import { withServers } from '../session.js'
import { type ContentOptions, saveMedia, showContent } from '../showing/content.js'
import { textMember } from '../showing/members.js'

export interface PromptOptions extends EnvironmentOption {
  readonly output?: string
  readonly timeout?: string
}

/** Gets one prompt and prints its messages, each under its role. */
export async function run(
  cli: Cli,
  name: string,
  prompt: string,
  values: readonly string[],
  options: PromptOptions,
): Promise<number> {
  const timeoutMs = milliseconds('--timeout', options.timeout)
  const selector = selectorOf(name, options)
  return withServers(cli, selector, async (thread) => {
    const { key } = await thread.client(selector, { signal: cli.signal })
    const { items } = await listEverything(thread.prompts, cli.signal)
    const args = promptValues(values, findPrompt(key, items, prompt))
    const result = await thread.prompts.get(
      { ...selector, name: prompt, arguments: args },
      { signal: cli.signal, ...(timeoutMs !== undefined && { timeoutMs }) },
    )
    const output = options.output === undefined ? {} : { output: resolve(cli.cwd, options.output) }
    await showMessages(cli, result, { ...output, label: prompt })
    return 0
  })
}

function findPrompt(key: ServerKey, items: readonly Listed[], name: string): JsonObject {
  const names = items.map(({ item }) => textMember(item, 'name') ?? '')
  const found = items[names.indexOf(name)]?.item
  if (found !== undefined) return found
  const message = `MCP server '${displayKey(key)}' offers no prompt '${name}'${didYouMean(name, names)}`
  throw new ReeveError('unknown_prompt', message, {
    key,
    place: `${displayKey(key)}/${name}`,
    data: { prompts: names },
  })
}

async function showMessages(cli: Cli, result: JsonObject, options: ContentOptions): Promise<void> {
  const messages = Array.isArray(result.messages) ? result.messages : []
  if (cli.json) {
    await saveMedia(cli, messages.flatMap(contentOf), options)
    return cli.out.json(result)
  }
  for (const [index, message] of messages.entries()) {
    if (index > 0) cli.out.line()
    cli.out.line(cli.style.bold(`${oneLine((isObject(message) && textMember(message, 'role')) || 'message')}:`))
    await showContent(cli, contentOf(message), options)
  }
}

function contentOf(message: JsonValue): JsonValue[] {
  const content = isObject(message) ? message.content : undefined
  return content === undefined ? [] : Array.isArray(content) ? content : [content]
}
