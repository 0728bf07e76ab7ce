// What is compared: the same echo tool, reached in different ways. `start` gives the command for a free port and the URL.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..')
const node = process.execPath
const ECHO = [join(root, 'test', 'fixtures', 'stdio', 'echo.mjs'), '--only-echo']

/**
 * name → `{ title, peer?, wire, start(port, folder) }`. `wire` is how the client speaks with it; `folder` is the run's own,
 * empty; `start` returns `{ command, url, headers?, env? }`.
 */
const SYSTEMS = {
  raw: {
    title: 'raw node:http (floor)',
    wire: 'streamable',
    start: (port) => ({ command: [node, join(here, 'servers', 'raw-http.mjs'), `${port}`], url: mcp(port) }),
  },
  sdk: {
    title: 'SDK 2.4.0 HTTP server, direct',
    wire: 'streamable',
    start: (port) => ({ command: [node, join(here, 'servers', 'sdk-http.mjs'), `${port}`], url: mcp(port) }),
  },
  reeve: { title: 'Reeve, HTTP → stdio', wire: 'streamable', start: startReeve },
  supergateway: {
    title: 'supergateway 4.0.0 --stateful',
    peer: 'supergateway',
    wire: 'streamable',
    start: (port) => ({
      command: [
        ...peer('supergateway', 'supergateway/dist/index.js'),
        ...['--stdio', [node, ...ECHO].map((part) => JSON.stringify(part)).join(' ')],
        ...['--outputTransport', 'streamableHttp', '--stateful', '--port', `${port}`, '--logLevel', 'none'],
      ],
      url: mcp(port),
    }),
  },
  'mcp-proxy': {
    title: 'mcp-proxy 6.7.19 stream',
    peer: 'mcp-proxy',
    wire: 'streamable',
    start: (port) => ({
      command: [
        ...peer('mcp-proxy', 'mcp-proxy/dist/bin/mcp-proxy.mjs'),
        ...['--port', `${port}`, '--host', '127.0.0.1', '--server', 'stream', '--', node, ...ECHO],
      ],
      url: mcp(port),
    }),
  },
  'mcp-hub': { title: 'mcp-hub 4.2.1 (SSE)', peer: 'mcp-hub', wire: 'sse', start: startHub },
}

export const SYSTEM_NAMES = Object.keys(SYSTEMS)

export function systemOf(name) {
  return { name, ...SYSTEMS[name] }
}

function startReeve(port, folder) {
  const config = serversFile(folder)
  const token = 'reeve-bench-'.repeat(4)
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const reeve = [node, join(root, 'dist', 'cli', 'reeve.js'), '--home', join(folder, 'home'), '--config', config]
  return {
    command: [...reeve, 'serve', '--http', `127.0.0.1:${port}`, '--token-file', tokenFile],
    url: mcp(port),
    headers: { authorization: `Bearer ${token}` },
  }
}

function startHub(port, folder) {
  const state = { XDG_STATE_HOME: join(folder, 'state'), XDG_DATA_HOME: join(folder, 'data') }
  const hub = peer('mcp-hub', 'mcp-hub/dist/cli.js')
  return { command: [...hub, '--port', `${port}`, '--config', serversFile(folder)], url: mcp(port), env: state }
}

function serversFile(folder) {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'servers.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { echo: { command: node, args: ECHO } } }))
  return file
}

function peer(name, program) {
  return [node, join(root, '.cache', 'peers', name, 'node_modules', program)]
}

function mcp(port) {
  return `http://127.0.0.1:${port}/mcp`
}
