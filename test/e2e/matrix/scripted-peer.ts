import type { Era } from './clients/client.js'
import { type Outcome, type Script, ScriptedServer } from './fidelity/scripted-server.js'

/** Asks in answer to a completion, which old servers may and new ones may not. */
export const ASKING_VALUE = 'ask me'

/** A server that does what the full-feature ones do not: it speaks when nobody asked, and in odd places. */
export function scriptedPeer(era: Era): ScriptedServer {
  const script: Script = {
    hello: {
      serverInfo: { name: 'scripted', version: '1' },
      capabilities: { tools: {}, prompts: {}, completions: {}, logging: {} },
    },
    async respond(method, params, exchange): Promise<Outcome> {
      if (method === 'tools/list') return { result: { tools: [{ name: 'plain', inputSchema: { type: 'object' } }] } }
      if (method === 'tools/call') return { result: { content: [] } }
      if (method === 'prompts/list') return { result: { prompts: [{ name: 'plain' }] } }
      if (method !== 'completion/complete') return { result: {} }
      const { value } = params.argument as { value: string }
      const { action } =
        value === ASKING_VALUE
          ? await exchange.ask('elicitation/create', { message: 'Of which kind?', requestedSchema: { type: 'object' } })
          : { action: 'not asked' }
      return { result: { completion: { values: [String(action)] } } }
    },
  }
  return new ScriptedServer(era, script)
}
