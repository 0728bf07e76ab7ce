import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startBackendRuntime } from '../../standins/backend-runtime.js'
import { CallResult } from '../differential/shapes.js'
import { FILE, HUB, modeLines, type Side, type World } from './side.js'
import { FILE_TOOL } from './traffic.js'

const DAY = 86_400

/** Reeve as a library, with the same backend, server and account. */
export async function reeveSide({ mode, backend, model }: World): Promise<Side> {
  const config = modeLines(mode, ['apps = true'])
  const runtime = await startBackendRuntime({ config, backend, analytics: { enabled: true }, account: null })
  const exp = Math.floor(Date.now() / 1000) + DAY
  const file = join(runtime.home, FILE)
  await writeFile(file, 'abc')
  await runtime.signIn('acct-1', { exp })
  model.nextToken = { exp: exp + DAY }
  const thread = await runtime.thread()
  return {
    call: async () => {
      try {
        const result = CallResult.parse(await thread.callTool({ ...HUB, tool: 't', arguments: {} }))
        return `${result.isError ? 'isError: ' : ''}${result.content.map(({ text }) => text ?? '').join('\n')}`
      } catch (error) {
        if (!(error instanceof Error)) throw error
        return `refused: ${error.message}`
      }
    },
    refresh: async () => void (await runtime.reeve.auth?.refresh()),
    turn: async () => {
      const step = await thread.step({ wait: 'all', turn: { metadata: { turn_id: 'turn-1' } } })
      for (const [tool, args] of [
        ['t', {}],
        [FILE_TOOL, { file }],
      ] as const) {
        const server = tool === FILE_TOOL ? 'codex_apps' : HUB.server
        const found = step.tools.find((one) => one.tool === tool && one.key.name === server)
        if (found === undefined) throw new Error(`no tool ${tool}`)
        await step.call(
          { namespace: found.namespace, name: found.name, arguments: args },
          { call: { responseId: 'resp_1' } },
        )
      }
    },
    logout: async () => void (await runtime.reeve.auth?.logout()),
    end: () => thread.close(),
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  }
}
