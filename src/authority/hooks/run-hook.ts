import type { McpToolHook } from '../../config/index.js'
import { ReeveError } from '../../errors.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { Definition } from './definitions.js'
import { filledIn } from './input.js'
import { failed, type RawOutput, type Verdict, verdictOf } from './output.js'
import { type CommandPlace, OUTPUT_LIMIT, runCommand } from './run-command.js'
import type { FunctionHook, HookCall, HookInput, HookToolCaller } from './types.js'

/** What hooks are run with. Without `commands` or `callTool` those that need it fail, and say so. */
export interface HookHost {
  readonly commands?: CommandPlace
  readonly callTool?: HookToolCaller
}

/** Runs one hook. Never rejects: what goes wrong with a hook is its verdict. */
export async function runHook(
  { handler, event, key }: Definition,
  call: HookCall,
  input: HookInput,
  host: HookHost,
  signal: AbortSignal,
): Promise<Verdict> {
  const { timeoutMs } = handler
  const late = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, late])
  const output = await outputOf({ handler, key }, call, input, host, either)
  if (late.aborted && output.is === 'failed') return failed(`hook timed out after ${timeoutMs / 1000}s`)
  return verdictOf(event, output)
}

async function outputOf(
  { handler, key }: Pick<Definition, 'handler' | 'key'>,
  { cwd }: HookCall,
  input: HookInput,
  { commands, callTool }: HookHost,
  signal: AbortSignal,
): Promise<RawOutput> {
  switch (handler.type) {
    case 'command':
      return commands === undefined
        ? { is: 'failed', reason: 'commands are not run here' }
        : runCommand(handler, { input: JSON.stringify(input), cwd, label: `hook ${key}` }, commands, signal)
    case 'mcp_tool':
      return callTool === undefined
        ? { is: 'failed', reason: 'tools are not called for hooks here' }
        : guarded(() => toolOutput(handler, input, callTool, signal), signal)
    case 'broken':
      return { is: 'failed', reason: handler.reason }
    case 'function':
      return guarded(() => functionOutput(handler.run, input, signal), signal)
  }
}

async function toolOutput(
  { server, environment, tool, input: template, timeoutMs }: McpToolHook,
  input: HookInput,
  callTool: HookToolCaller,
  signal: AbortSignal,
): Promise<RawOutput> {
  const result = await callTool(
    { server, ...(environment !== undefined && { environment }), tool, arguments: filledIn(template, input) },
    { signal, timeoutMs },
  )
  const text = textOf(result)
  if (text.length > OUTPUT_LIMIT)
    return { is: 'failed', reason: `its tool answered with more than ${OUTPUT_LIMIT} characters` }
  if (result.isError === true) return { is: 'failed', reason: `its tool failed: ${text}` }
  const { structuredContent } = result
  if (text === '' && structuredContent !== undefined) return { is: 'value', value: structuredContent }
  return { is: 'ended', code: 0, stdout: text, stderr: '' }
}

function textOf({ content }: JsonObject): string {
  if (!Array.isArray(content)) return ''
  return content.map(blockText).join('')
}

function blockText(block: JsonValue): string {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return ''
  return block.type === 'text' && typeof block.text === 'string' ? block.text : ''
}

async function functionOutput(run: FunctionHook['run'], input: HookInput, signal: AbortSignal): Promise<RawOutput> {
  // Its own copy: what it does to it is not done to the call.
  const value = await run(structuredClone(input), signal)
  if (value === undefined) return { is: 'ended', code: 0, stdout: '', stderr: '' }
  // What comes from outside the type system is read as JSON, once.
  return { is: 'ended', code: 0, stdout: JSON.stringify(value) ?? '', stderr: '' }
}

/** Whatever runs cannot be ended from here: it is left behind once its time is over. */
async function guarded(run: () => Promise<RawOutput>, signal: AbortSignal): Promise<RawOutput> {
  const aborted = new Promise<RawOutput>((resolve) => {
    const onAbort = () => resolve({ is: 'failed', reason: 'hook was cancelled' })
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  const ran = run().catch((error: unknown): RawOutput => {
    const reason = error instanceof ReeveError || error instanceof Error ? error.message : String(error)
    return { is: 'failed', reason }
  })
  return Promise.race([ran, aborted])
}
