import { mkdir, open } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { ReeveError } from '../../errors.js'

/** Another file of the name is never touched: a counter is put before the ending. */
const ATTEMPTS = 10_000

/**
 * Writes bytes under `name` in `folder`, which is made when it is missing.
 * @returns the path written
 * @throws ReeveError `output_failed` naming the path
 */
export async function saveNew(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  try {
    await mkdir(folder, { recursive: true })
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const path = join(folder, attempt === 1 ? name : numbered(name, attempt))
      const file = await open(path, 'wx').catch(takenAlready)
      if (file === undefined) continue
      try {
        await file.writeFile(bytes)
      } finally {
        await file.close()
      }
      return path
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ReeveError('output_failed', `cannot write to '${folder}': ${reason}`, { place: folder, cause })
  }
  throw new ReeveError('output_failed', `'${folder}' has too many files named like '${name}'`, { place: folder })
}

function numbered(name: string, attempt: number): string {
  const ending = extname(name)
  return `${name.slice(0, name.length - ending.length)}-${attempt}${ending}`
}

function takenAlready(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'EEXIST') return undefined
  throw error
}
