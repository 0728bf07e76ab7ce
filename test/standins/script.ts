/**
 * What a model stand-in says. It makes the scripted calls one after the other, each once the result of the one before is
 * in the conversation, and then quotes the last result. The position is read from the conversation, so requests on the side
 * (a title, a summary, a token count) neither disturb it nor need to be known.
 */
export interface ScriptedCall {
  /** The end of the name that the client offers to the model: clients put prefixes of their own before it. */
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export type Script = readonly ScriptedCall[]

/** A tool as a request offers it. `namespace` only where the API has one. */
export interface OfferedTool {
  readonly name: string
  readonly namespace?: string
}

/** What one request shows of the conversation, in the words of no particular API. */
export interface Conversation {
  readonly offered: readonly OfferedTool[]
  /** Texts of the tool results, oldest first. */
  readonly results: readonly string[]
}

export type Answer =
  | { readonly type: 'call'; readonly id: string; readonly tool: OfferedTool; readonly arguments: string }
  | { readonly type: 'text'; readonly text: string }

/** The next thing that the stand-in says. A tool that is not offered, or not by one name alone, is said so in text. */
export function answer(script: Script, { offered, results }: Conversation): Answer {
  const next = script[results.length]
  if (offered.length === 0 || script.length === 0) return { type: 'text', text: 'Nothing to do.' }
  if (next === undefined) return { type: 'text', text: `The tool said: ${results.at(-1)}` }
  const fitting = offered.filter((tool) => `${tool.namespace ?? ''}${tool.name}`.endsWith(next.tool))
  const [tool, ...others] = fitting
  if (tool === undefined || others.length > 0) {
    const names = offered.map((each) => `${each.namespace ?? ''}${each.name}`).join(', ')
    return { type: 'text', text: `${fitting.length} tools end in '${next.tool}' of: ${names}` }
  }
  return { type: 'call', id: `call_${results.length}`, tool, arguments: JSON.stringify(next.arguments) }
}
