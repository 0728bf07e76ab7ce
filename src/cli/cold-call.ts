import { openRemoteSession } from './broker/remote-session.js'
import { toolCall } from './calling/call-tool.js'
import type { PlainVerb } from './cold-broker.js'
import { plainArguments } from './plain-arguments.js'
import { isIncomplete, threadOptions } from './session-options.js'

/** `call NAME TOOL [key=value…] [--env ID]`, with nothing read from stdin: it could be read once only. */
export function plainCall(args: readonly string[]): PlainVerb | undefined {
  const plain = plainArguments(args, ['--input', '--env'])
  const [verb, name, tool, ...values] = plain?.words ?? []
  const [input, env] = [plain?.values.get('--input'), plain?.values.get('--env')]
  if (plain === undefined || verb !== 'call' || name === undefined || tool === undefined) return undefined
  return {
    options: plain.options,
    async run(cli) {
      const options = { ...(input !== undefined && { input }), ...(env !== undefined && { env }) }
      const call = await toolCall(cli, name, tool, values, options)
      const session = await openRemoteSession(cli, threadOptions(call.session))
      if (session === undefined) return undefined
      await using opened = session
      const code = await call.carryOut(opened.thread)
      return isIncomplete(opened.problems) && code === 0 ? 1 : code
    },
  }
}
