import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { startBackendProxy } from '../../standins/backend-proxy.js'
import { clientHome } from '../client-home.js'
import { codexModel } from '../codex-home.js'
import { startScriptedModel } from '../differential/scripted-model.js'
import { CallResult } from '../differential/shapes.js'
import { speakJsonLines } from '../json-lines.js'
import { PEER } from '../peers.js'
import { startProgram } from '../program.js'
import { FILE, modeLines, SERVER, SERVER_PATH, type Side, type World } from './side.js'
import { FILE_TOOL, kindOf } from './traffic.js'

const Started = z.object({ thread: z.object({ id: z.string() }) })
const Refused = z.object({ message: z.string() })
const DAY = 86_400

/** The real `codex app-server`, whose way out is a proxy that leads to the backend. */
export async function codexSide(world: World): Promise<Side> {
  const owned: AsyncDisposable[] = []
  const close = async () => {
    for (const one of owned.reverse()) await one[Symbol.asyncDispose]()
  }
  const use = <T extends AsyncDisposable>(one: T): T => {
    owned.push(one)
    return one
  }
  try {
    return await startedSide(world, { use, close })
  } catch (error) {
    await close()
    throw error
  }
}

interface Owner {
  use<T extends AsyncDisposable>(one: T): T
  close(): Promise<void>
}

async function startedSide(world: World, owner: Owner): Promise<Side> {
  const home = owner.use(await clientHome('first-party'))
  const proxy = owner.use(await startBackendProxy(world.backend))
  const llm = owner.use(await startScriptedModel())
  const at = (name: string) => join(home.folder, name)
  await writeFile(at('ca.pem'), world.backend.ca)
  await writeFile(at(FILE), 'abc')
  await writeFile(at('auth.json'), loginOf(world))
  const features = modeLines(world.mode, ['multi_environment_mcp = true', 'apps = true'])
  const quiet = 'suppress_unstable_features_warning = true\n'
  await writeFile(at('config.toml'), `${quiet}${codexModel(llm.url)}${SERVER}${features}`)
  const env = {
    ...home.env,
    CODEX_HOME: home.folder,
    CODEX_CA_CERTIFICATE: at('ca.pem'),
    HTTPS_PROXY: proxy.url,
    NO_PROXY: '127.0.0.1',
  }
  const { command, args } = PEER.codex()
  const program = owner.use(startProgram({ command, args: [...args, 'app-server'] }, { env, cwd: home.folder }))
  const lines = speakJsonLines(program)
  const turnEnded = completions(program.child.stdout)
  const clientInfo = { name: 'differential', title: 'Differential', version: '1.0.0' }
  await lines.request('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  lines.notify('initialized')
  const access = { approvalPolicy: 'never', sandbox: 'danger-full-access' }
  const { thread } = Started.parse(await lines.request('thread/start', { cwd: home.folder, ...access }))
  const threadId = thread.id
  return {
    call: async () => {
      try {
        const request = { threadId, server: 'hub', tool: 't', arguments: {} }
        const { content, isError } = CallResult.parse(await lines.request('mcpServer/tool/call', request))
        return `${isError ? 'isError: ' : ''}${content.map(({ text }) => text ?? '').join('\n')}`
      } catch (error) {
        if (!(error instanceof Error)) throw error
        return `refused: ${Refused.parse(JSON.parse(error.message)).message}`
      }
    },
    refresh: async () => void (await lines.request('account/read', { refreshToken: true })),
    turn: async () => {
      llm.say([
        { namespace: 'mcp__hub', name: 't', arguments: '{}' },
        { namespace: 'mcp__codex_apps__box', name: FILE_TOOL, arguments: JSON.stringify({ file: at(FILE) }) },
      ])
      const ended = turnEnded()
      await lines.request('turn/start', { threadId, input: [{ type: 'text', text: 'Go on.' }] })
      await ended
      await world.model.came((all) => all.some((request) => kindOf(request, SERVER_PATH) === 'analytics'))
    },
    logout: async () => void (await lines.request('account/logout', {})),
    end: async () => {
      program.child.stdin.end()
      await program.exited
    },
    [Symbol.asyncDispose]: owner.close,
  }
}

function loginOf({ model }: World): string {
  const exp = Math.floor(Date.now() / 1000) + DAY
  const { accessToken, refreshToken } = model.issue({ account: 'acct-1', user: 'user-1', exp })
  model.nextToken = { exp: exp + DAY }
  const tokens = { id_token: accessToken, access_token: accessToken, refresh_token: refreshToken, account_id: 'acct-1' }
  return JSON.stringify({ auth_mode: 'chatgpt', tokens, last_refresh: new Date().toISOString() })
}

/** A function that waits for the end of the turn that is started next. */
function completions(output: NodeJS.ReadableStream): () => Promise<void> {
  const waiting: (() => void)[] = []
  createInterface({ input: output }).on('line', (line) => {
    if (JSON.parse(line).method === 'turn/completed') waiting.shift()?.()
  })
  return () => new Promise((resolve) => void waiting.push(resolve))
}
