import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from './peers.js'
import { type Command, type Program, startProgram, succeed } from './program.js'

export interface GatewayUnderTest extends AsyncDisposable {
  /** The endpoint that `reeve serve --http` printed. */
  readonly url: string
  readonly token: string
  /** The gateway as a program, for clients that start one themselves: the same servers, run by the home's broker. */
  readonly stdio: Command
}

const REEVE = join(ROOT, 'dist', 'cli', 'reeve.js')
const TOKEN = 'clients-under-test-clients-under-test-0123456789'
/** What a stop may take; over it the gateway is killed, which leaves its servers to their end of input. */
const STOP_MS = 15_000
const ENDPOINT = /http:\/\/127\.0\.0\.1:\d+\/mcp/

/** The built command line serving `servers` on a free port, with a home of its own. */
export async function startGateway(servers: object): Promise<GatewayUnderTest> {
  if (!existsSync(REEVE)) throw new Error(`${REEVE} is missing: npm run build`)
  const folder = await mkdtemp(join(tmpdir(), 'reeve-clients-'))
  const config = join(folder, 'servers.json')
  const tokenFile = join(folder, 'token')
  await writeFile(config, JSON.stringify(servers))
  await writeFile(tokenFile, TOKEN, { mode: 0o600 })
  const reeve = [REEVE, '--home', join(folder, 'home'), '--config', config]
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder }
  const http = {
    command: process.execPath,
    args: [...reeve, 'serve', '--http', '127.0.0.1:0', '--token-file', tokenFile],
  }
  const program = startProgram(http, { env, cwd: folder })
  const close = async () => {
    program.child.kill('SIGTERM')
    const grace = setTimeout(() => program.child.kill('SIGKILL'), STOP_MS)
    await program.exited.finally(() => clearTimeout(grace))
    await program[Symbol.asyncDispose]()
    // Clients that start the gateway themselves have their servers in the home's broker.
    await succeed({ command: process.execPath, args: [...reeve, 'broker', 'stop'] }, { env, cwd: folder })
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    return {
      url: await endpointOf(program),
      token: TOKEN,
      stdio: { command: process.execPath, args: [...reeve, 'serve', '--stdio'] },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The first endpoint that the gateway prints, on either stream. */
function endpointOf({ child, exited, stderr }: Program): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const look = (chunk: Buffer) => {
      printed += chunk.toString()
      const [url] = ENDPOINT.exec(printed) ?? []
      if (url !== undefined) resolve(url)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    exited.then(
      ({ code, signal }) => reject(new Error(`reeve serve ended with ${signal ?? code}\n${stderr()}`)),
      reject,
    )
  })
}
