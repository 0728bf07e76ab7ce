import { operatorOptOut, readSandboxRequest, SandboxRefusedError } from 'reeve/sandbox'
import { runCommand } from './run-command.mjs'
import { Shell } from './shell.mjs'

/** Set to `off` by whoever starts this server, it runs commands unsandboxed for clients that send no policy. */
const optOut = operatorOptOut('SHELL_SERVER_SANDBOX')

export const TOOLS = [
  {
    name: 'run',
    description: 'Runs one command and gives what it printed.',
    inputSchema: {
      type: 'object',
      properties: {
        command: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'Program and arguments.' },
      },
      required: ['command'],
    },
  },
  {
    name: 'shell',
    description: 'Runs a line in a shell that stays between calls, with its variables and its folder.',
    inputSchema: {
      type: 'object',
      properties: {
        line: { type: 'string', description: 'What to run.' },
        restart: { type: 'boolean', description: 'Starts the shell anew, under the policy of this call.' },
      },
      required: ['line'],
    },
  },
]

let shell

/** What is refused is a result with `isError`, so that the model learns why. */
export async function callTool(name, args, { text, transport, signal }) {
  try {
    const sandbox = readSandboxRequest(text, transport)
    if (name === 'run') return shown(await runCommand(sandbox, stringsOf(args?.command), { optOut, signal }))
    if (name !== 'shell') return refused('unknown_tool', `no tool '${name}'`)
    if (args?.restart === true) shell?.end()
    if (shell === undefined || shell.ended) shell = new Shell(sandbox, { optOut })
    return shown(await shell.run(sandbox, String(args?.line ?? ''), signal))
  } catch (error) {
    if (error instanceof SandboxRefusedError) return refused(error.code, error.message)
    return refused('failed', error instanceof Error ? error.message : String(error))
  }
}

function stringsOf(command) {
  return Array.isArray(command) && command.every((part) => typeof part === 'string') ? command : []
}

function shown(outcome) {
  const { stdout, stderr, exitCode } = outcome
  const text = [stdout, stderr, exitCode === 0 ? '' : `exit code ${exitCode}`].filter((part) => part !== '').join('\n')
  return { content: [{ type: 'text', text }], structuredContent: outcome, isError: exitCode !== 0 }
}

function refused(code, message) {
  return {
    content: [{ type: 'text', text: `${code}: ${message}` }],
    structuredContent: { refused: code },
    isError: true,
  }
}
