import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ExecutorAuthentication } from '../../executor/index.js'
import type { Cli } from '../cli.js'
import { UsageError } from '../usage.js'
import type { ExecutorVerbOptions } from '../verbs/executor.js'

const SKEW_SECONDS = 30
const SHORTEST_SECRET = 32

/**
 * Who may connect, from the options of the command line. Secrets come from files: arguments are seen by everybody
 * (reference: executor-protocol, 2.2).
 *
 * @throws UsageError
 */
export async function executorAuthentication(cli: Cli, options: ExecutorVerbOptions): Promise<ExecutorAuthentication> {
  switch (options.wsAuth) {
    case undefined:
      refuse(options, [...OF_TOKENS, ...OF_SIGNED], '--ws-auth')
      return { kind: 'none' }
    case 'capability-token':
      refuse(options, OF_SIGNED, '--ws-auth signed-bearer-token')
      return { kind: 'capability-token', sha256: await tokenDigest(cli, options) }
    case 'signed-bearer-token':
      refuse(options, OF_TOKENS, '--ws-auth capability-token')
      return {
        kind: 'signed-bearer-token',
        secret: await sharedSecret(cli, options.wsSharedSecretFile),
        ...(options.wsIssuer !== undefined && { issuer: options.wsIssuer }),
        ...(options.wsAudience !== undefined && { audience: options.wsAudience }),
        maxClockSkewSeconds: skewSeconds(options.wsMaxClockSkewSeconds),
      }
    default:
      throw new UsageError("--ws-auth is 'capability-token' or 'signed-bearer-token'", { place: '--ws-auth' })
  }
}

const OF_TOKENS = ['wsTokenFile', 'wsTokenSha256'] as const
const OF_SIGNED = ['wsSharedSecretFile', 'wsIssuer', 'wsAudience', 'wsMaxClockSkewSeconds'] as const
const FLAGS = {
  wsTokenFile: '--ws-token-file',
  wsTokenSha256: '--ws-token-sha256',
  wsSharedSecretFile: '--ws-shared-secret-file',
  wsIssuer: '--ws-issuer',
  wsAudience: '--ws-audience',
  wsMaxClockSkewSeconds: '--ws-max-clock-skew-seconds',
} as const

function refuse(options: ExecutorVerbOptions, names: readonly (keyof typeof FLAGS)[], needed: string): void {
  for (const name of names)
    if (options[name] !== undefined) throw new UsageError(`${FLAGS[name]} goes with ${needed}`, { place: FLAGS[name] })
}

async function tokenDigest(cli: Cli, { wsTokenFile, wsTokenSha256 }: ExecutorVerbOptions): Promise<Uint8Array> {
  if ((wsTokenFile === undefined) === (wsTokenSha256 === undefined))
    throw new UsageError('--ws-auth capability-token takes either --ws-token-file or --ws-token-sha256')
  if (wsTokenSha256 !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(wsTokenSha256))
      throw new UsageError('--ws-token-sha256 takes 64 hexadecimal digits', { place: '--ws-token-sha256' })
    return Buffer.from(wsTokenSha256, 'hex')
  }
  const token = (await secretFile(cli, wsTokenFile ?? '', '--ws-token-file')).toString('utf8').trim()
  if (token === '') throw new UsageError('the file of --ws-token-file is empty', { place: '--ws-token-file' })
  return createHash('sha256').update(token).digest()
}

async function sharedSecret(cli: Cli, file: string | undefined): Promise<Uint8Array> {
  if (file === undefined) throw new UsageError('--ws-auth signed-bearer-token takes --ws-shared-secret-file')
  const content = await secretFile(cli, file, '--ws-shared-secret-file')
  const end = content.at(-1) === LF ? (content.at(-2) === CR ? -2 : -1) : undefined
  const secret = content.subarray(0, end)
  if (secret.length < SHORTEST_SECRET)
    throw new UsageError(`the file of --ws-shared-secret-file must hold at least ${SHORTEST_SECRET} bytes`, {
      place: '--ws-shared-secret-file',
    })
  return secret
}

async function secretFile(cli: Cli, file: string, flag: string): Promise<Buffer> {
  try {
    return await readFile(resolve(cli.cwd, file))
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
    throw new UsageError(`the file of ${flag} cannot be read${reason}`, { place: flag, cause })
  }
}

function skewSeconds(text: string | undefined): number {
  if (text === undefined) return SKEW_SECONDS
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError('--ws-max-clock-skew-seconds takes a whole number', { place: '--ws-max-clock-skew-seconds' })
  return Number(text)
}

const LF = 0x0a
const CR = 0x0d
