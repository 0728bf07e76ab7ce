import { resolve } from 'node:path'
import type { JsonObject } from '../../protocol/index.js'
import type { ToolThread } from '../../threads/index.js'
import type { Cli } from '../cli.js'
import { milliseconds } from '../seconds.js'
import { type EnvironmentOption, selectorOf } from '../selection.js'
import type { SessionOptions } from '../session-options.js'
import { showCallResult } from '../showing/call-result.js'
import { UsageError } from '../usage.js'
import { askApproval } from './approval.js'
import { argumentsFrom } from './arguments.js'
import { findTool } from './find-tool.js'
import { inputObject } from './input.js'
import { showProgress } from './progress.js'

export interface CallOptions extends EnvironmentOption {
  /** The arguments as a JSON object, or `-` for stdin. `key=value` is laid over it. */
  readonly input?: string
  /** Name of a permission profile. */
  readonly permissions?: string
  /** Folder for media. */
  readonly output?: string
  /** Seconds. */
  readonly timeout?: string
  /** Approves what the configuration wants to be asked about. */
  readonly yes?: boolean
}

/** One call as the command line says it: the thread that it needs, and what it does there. */
export interface ToolCall {
  readonly session: SessionOptions
  /** Calls, prints the result, and gives the exit code: 1 when the tool reports an error. */
  carryOut(thread: ToolThread): Promise<number>
}

/** @throws UsageError for arguments that can't be understood */
export async function toolCall(
  cli: Cli,
  name: string,
  tool: string,
  values: readonly string[],
  options: CallOptions,
): Promise<ToolCall> {
  const timeoutMs = milliseconds('--timeout', options.timeout)
  const { pairs, input } = givenArguments(values, options)
  const base = input === undefined ? undefined : await inputObject(cli, input)
  const selector = selectorOf(name, options)
  const onApproval = askApproval(cli, options.yes ?? false)
  return {
    session: {
      only: [selector],
      ...(options.permissions !== undefined && { permissions: options.permissions }),
      ...(onApproval && { onApproval }),
    },
    async carryOut(thread) {
      cli.err.progress(`starting ${name}`)
      const { key } = await thread.client(selector, { signal: cli.signal })
      const step = await thread.step({ wait: 'all', signal: cli.signal })
      const schema = findTool(step, key, tool).definition.inputSchema
      const args = input !== undefined && pairs.length === 0 ? base : typed(cli, pairs, schema, base)
      const result = await thread.callTool(
        { server: key.name, environment: key.environment, tool, ...(args && { arguments: args }) },
        { signal: cli.signal, onProgress: showProgress(cli, tool), ...(timeoutMs !== undefined && { timeoutMs }) },
      )
      cli.err.clear()
      const output = options.output === undefined ? {} : { output: resolve(cli.cwd, options.output) }
      return (await showCallResult(cli, result, { ...output, label: tool })) ? 0 : 1
    },
  }
}

/** A lone `-` means stdin, as `--input -` does. */
function givenArguments(values: readonly string[], { input }: CallOptions): { pairs: string[]; input?: string } {
  const pairs = values.filter((value) => value !== '-')
  if (pairs.length === values.length) return input === undefined ? { pairs } : { pairs, input }
  if (input !== undefined) throw new UsageError("give the arguments either with --input or with '-', not both")
  return { pairs, input: '-' }
}

function typed(
  cli: Cli,
  pairs: readonly string[],
  schema: JsonObject[string] | undefined,
  base: JsonObject | undefined,
): JsonObject {
  const { value, notes } = argumentsFrom(pairs, schema, base)
  for (const note of notes) cli.err.warn(note)
  return value
}
