import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CredentialStoreError } from '../../errors.js'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The id of this installation, kept in `installation_id` of the folder and made when it is not there; several processes that
 * begin at once agree on one. Rejects with `CredentialStoreError`.
 */
export async function installationId(folder: string): Promise<string> {
  const file = join(folder, 'installation_id')
  const made = randomUUID()
  const draft = join(folder, `.installation_id.${made}.tmp`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(draft, made, { mode: 0o600, flag: 'wx', flush: true })
    // Unlike a rename, this does not replace what another process has just made.
    await link(draft, file)
    return made
  } catch (cause) {
    if (!isExisting(cause))
      throw new CredentialStoreError('credentials_unwritable', 'the installation id cannot be kept', {
        place: file,
        cause,
      })
  } finally {
    // Where not even that can be done, the first reason is the one to tell.
    await rm(draft, { force: true }).catch(() => undefined)
  }
  return existing(file)
}

async function existing(file: string): Promise<string> {
  const kept = (await readFile(file, 'utf8')).trim()
  if (UUID.test(kept)) return kept
  throw new CredentialStoreError('credentials_invalid', 'the installation id is no UUID: delete the file', {
    place: file,
  })
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}
