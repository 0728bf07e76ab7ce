import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import type { ConfiguredServer } from '../../config/index.js'
import { serverKey } from '../../identity/index.js'
import type { Finding } from './finding.js'

/**
 * Programs of enabled local servers that are not there, found without starting any. POSIX only: on Windows the search
 * has rules of its own, and starting the server tells the same.
 *
 * @param env the variables of this process; a server's own `PATH` goes first
 */
export async function programFindings(
  servers: readonly ConfiguredServer[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<Finding[]> {
  if (process.platform === 'win32') return []
  const found = await Promise.all(servers.map((server) => missingProgram(server, env, cwd)))
  return found.filter((finding) => finding !== undefined)
}

async function missingProgram(
  { name, config, origin }: ConfiguredServer,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<Finding | undefined> {
  const { transport, enabled, environmentId } = config
  if (transport.type !== 'stdio' || !enabled || environmentId !== 'local') return undefined
  const path = Object.hasOwn(transport.env, 'PATH') ? transport.env.PATH : env.PATH
  const candidates = transport.command.includes('/')
    ? [resolve(cwd, transport.cwd ?? '', transport.command)]
    : (path ?? '').split(delimiter).map((folder) => join(resolve(cwd, transport.cwd ?? '', folder), transport.command))
  for (const candidate of candidates) if (await isExecutable(candidate)) return undefined
  const line = origin.line === undefined ? '' : `:${origin.line}`
  return {
    severity: 'error',
    code: 'program_missing',
    place: `${origin.file}${line} mcp_servers.${name}.command`,
    message: transport.command.includes('/')
      ? `there is no program ${candidates[0]}`
      : `there is no program '${transport.command}' on the PATH`,
    mend: 'install it, or write its whole path',
    key: serverKey(name),
  }
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
