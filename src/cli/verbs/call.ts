import { type CallOptions, toolCall } from '../calling/call-tool.js'
import type { Cli } from '../cli.js'
import { withThread } from '../session.js'

/** Calls one tool of one server and prints its result; 1 when the tool reports an error. */
export async function run(
  cli: Cli,
  name: string,
  tool: string,
  values: readonly string[],
  options: CallOptions,
): Promise<number> {
  const call = await toolCall(cli, name, tool, values, options)
  return withThread(cli, call.session, (thread) => call.carryOut(thread))
}
