import type { CallAuthority } from '../../authority/index.js'
import { isHostOwnedApps } from '../../catalog/index.js'
import type { CapturedServer } from '../../connections/index.js'
import type { EnvironmentRegistry } from '../../environments/index.js'
import { FileParameterError, UnknownEnvironmentError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { type OwningAuth, requireOwning } from '../owning-auth.js'
import type { CallOptions, ServerSelector } from '../types.js'
import { type FileParameter, fileParameters } from './declared.js'
import { maskedTool } from './mask-schema.js'
import { mimeTypeOf } from './mime-type.js'
import { findOwned, type OwnedFile, type OwnedFiles } from './owned-file.js'
import { type UploadedFile, type UploadStep, upload } from './upload.js'

/** Files of one call. */
const MAX_FILES = 16

type Server = Pick<CapturedServer, 'key' | 'config' | 'source'>

export interface CallFilesHost {
  readonly auth: OwningAuth | undefined
  /** Of the first-party backend. */
  readonly baseUrl: string
  readonly environments: Pick<EnvironmentRegistry, 'get' | 'ids'>
  /** Servers beside the hosted apps whose declarations count: the embedding program says so, never a server. */
  readonly trusted: readonly ServerSelector[]
}

/** A call whose approval is given. */
export interface CallToFill {
  readonly server: Server
  readonly tool: string
  readonly definition: JsonObject
  readonly authority: CallAuthority
  readonly arguments: JsonObject | undefined
}

/** Files in the arguments of one thread's calls (reference: tool-calls, 7). */
export class CallFiles {
  readonly #host: CallFilesHost

  constructor(host: CallFilesHost) {
    this.#host = host
  }

  /** Tools as a model is shown them. */
  shown(server: Server, tools: readonly JsonObject[]): readonly JsonObject[] {
    return this.#isTrusted(server) ? tools.map(maskedTool) : tools
  }

  /**
   * What puts uploaded files into the arguments, for when nothing stands in the way of the call any more; undefined where
   * there is none. The files of a call are uploaded once, however often it is prepared.
   */
  of(call: CallToFill, options: CallOptions): (() => Promise<JsonObject>) | undefined {
    const args = call.arguments
    if (args === undefined || !this.#isTrusted(call.server)) return undefined
    const filled = fileParameters(call.definition).filter(({ name }) => holdsPath(args, name))
    if (filled.length === 0) return undefined
    let uploaded: Promise<JsonObject> | undefined
    return () => {
      uploaded ??= this.#uploaded(call, args, filled, options)
      return uploaded
    }
  }

  async #uploaded(
    call: CallToFill,
    args: JsonObject,
    parameters: readonly FileParameter[],
    { signal = NEVER, onUpload }: CallOptions,
  ): Promise<JsonObject> {
    const place = `${call.server.key.name}/${call.tool}`
    const auth = requireOwning(this.#host.auth, `uploading the files of ${place}`)
    const files = this.#owned(call.authority)
    const wanted = parameters.flatMap((parameter) =>
      pathsOf(args[parameter.name]).map((path) => ({ path, place: `${place} ${parameter.name}` })),
    )
    if (wanted.length > MAX_FILES)
      throw new FileParameterError('too_many_files', `a call takes ${MAX_FILES} files at most`, { place })
    // All of them are looked at before any of them leaves.
    const found = new Map<string, OwnedFile>()
    for (const one of wanted)
      if (!found.has(one.path)) found.set(one.path, await findOwned(one.path, files, one.place, signal))
    const uploaded = new Map<string, UploadedFile & { readonly name: string }>()
    for (const [path, file] of found) {
      const { name, size } = file
      const onStep = (step: UploadStep) => onUpload?.({ file: name, bytes: size, step })
      const { baseUrl } = this.#host
      const bytes = await file.read()
      uploaded.set(path, { ...(await upload({ name, bytes }, { auth, baseUrl, place, signal, onStep })), name })
    }
    const replaced = parameters.map((parameter) => [
      parameter.name,
      filledValue(args[parameter.name], parameter, uploaded),
    ])
    return { ...args, ...Object.fromEntries(replaced) }
  }

  #owned({ executionEnvironment: id, profile, cwd, workspaceRoots }: CallAuthority): OwnedFiles {
    const placed = this.#host.environments.get(id)
    if (placed === undefined) throw new UnknownEnvironmentError(id, { known: this.#host.environments.ids })
    return { environment: placed.environment, authority: { profile, cwd, workspaceRoots } }
  }

  #isTrusted(server: Server): boolean {
    return isHostOwnedApps(server) || this.#host.trusted.some((selector) => isMeant(selector, server.key))
  }
}

const NEVER = new AbortController().signal

function isMeant({ server, environment = null }: ServerSelector, { name, environment: owner }: ServerKey): boolean {
  return server === name && environment === owner
}

function holdsPath(args: JsonObject, name: string): boolean {
  return Object.hasOwn(args, name) && pathsOf(args[name]).length > 0
}

/** What is no text is for the server to judge. */
function pathsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function filledValue(
  value: JsonValue | undefined,
  { accepts }: FileParameter,
  uploaded: ReadonlyMap<string, UploadedFile & { readonly name: string }>,
): JsonValue {
  if (Array.isArray(value)) return value.map((item) => filledValue(item, { name: '', accepts }, uploaded))
  const file = typeof value === 'string' ? uploaded.get(value) : undefined
  if (file === undefined) return value ?? null
  const { downloadUrl, fileId, mimeType, name } = file
  return {
    download_url: downloadUrl,
    file_id: fileId,
    ...(accepts.includes('mime_type') && { mime_type: mimeType ?? mimeTypeOf(name) }),
    ...(accepts.includes('file_name') && { file_name: name }),
  }
}
