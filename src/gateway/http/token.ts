import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigError } from '../../errors.js'

/** 256 bits, as 43 characters that stand in a header and a shell without quoting. */
const TOKEN = /^[A-Za-z0-9_-]{43,256}$/

/**
 * The gateway's bearer token from a file, made on first use. The file is created whole and 0600 in one step, so that
 * processes that start together agree on one token and none reads half of it.
 *
 * @param path Usually `$REEVE_HOME/run/gateway-token`.
 * @throws ConfigError `gateway_token` when the file can't be read or created, or holds no token. The text never shows it.
 */
export async function loadOrCreateToken(path: string): Promise<string> {
  try {
    return (await existingToken(path)) ?? (await createToken(path))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError('gateway_token', `can't use the gateway's token file: ${reason}`, {
      place: path,
      cause: error,
    })
  }
}

async function existingToken(path: string): Promise<string | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
  const token = text.trim()
  if (!TOKEN.test(token)) {
    throw new ConfigError('gateway_token', 'the file holds no gateway token: delete it to have a new one made', {
      place: path,
    })
  }
  await keepPrivate(path)
  return token
}

async function createToken(path: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${token}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    // Unlike rename, link never replaces the token of a process that was faster.
    await link(draft, path)
    return token
  } catch (error) {
    const theirs = isCode(error, 'EEXIST') ? await existingToken(path) : undefined
    if (theirs === undefined) throw error
    return theirs
  } finally {
    await unlink(draft)
  }
}

/** A file that others can read, from a copy or a careless umask, is closed to them. */
async function keepPrivate(path: string): Promise<void> {
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600)
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
