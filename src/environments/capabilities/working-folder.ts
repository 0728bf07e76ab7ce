import { InvalidArgumentsError } from '../../errors.js'
import { fileUriOf } from '../../protocol/index.js'
import type { Environment } from '../environment.js'

/** The `cwd` of a question to an executor, as a `file:` URI: the thread's there, else the user's home, else the root. */
export async function workingFolder(environment: Environment, cwd: string | undefined): Promise<string> {
  const [info, style] = await Promise.all([environment.info(), environment.pathStyle()])
  if (cwd === undefined) return info.userHomeDir ?? info.cwd ?? (style === 'windows' ? 'file:///C:/' : 'file:///')
  const uri = fileUriOf(cwd, style)
  if (uri !== undefined) return uri
  throw new InvalidArgumentsError(`'${cwd}' is no absolute path in environment '${environment.id}'`, { place: cwd })
}
