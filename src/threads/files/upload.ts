import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { AuthReply, RequestLayout } from '../../auth/index.js'
import { CancelledError, FileParameterError, FirstPartyAuthError, RedirectRefusedError } from '../../errors.js'
import type { JsonObject } from '../../protocol/index.js'
import type { OwningAuth } from '../owning-auth.js'
import { member, objectOf } from './declared.js'

/** A file that the backend has. */
export interface UploadedFile {
  readonly fileId: string
  readonly downloadUrl: string
  readonly mimeType: string | undefined
}

export type UploadStep = 'create' | 'store' | 'finalise'

export interface UploadOptions {
  readonly auth: OwningAuth
  /** Of the backend, with or without a slash at its end. */
  readonly baseUrl: string
  /** Of errors: `server/tool argument`. */
  readonly place: string
  readonly signal: AbortSignal
  /** Told as each step is done. */
  readonly onStep?: (step: UploadStep) => void
}

/** Milliseconds: for a request, for the bytes themselves, and for the backend to be ready with them. */
const REQUEST = 60_000
const STORING = 600_000
const FINALISING = 30_000
const ASK_AGAIN = 250

/**
 * Uploads a file in the thread's name: announced to the backend, put into its storage, finished. Announcing and finishing
 * carry the thread's auth in its mode, storage gets nothing of ours, whatever its origin; no step follows a redirect with an
 * assertion, and storage follows none. Source: reference, runtime-auth 4.1, 6.2 and 14.
 *
 * @throws FileParameterError `file_upload_failed`
 * @throws FirstPartyAuthError | RedirectRefusedError | CancelledError
 */
export async function upload(
  file: { readonly name: string; readonly bytes: Buffer },
  options: UploadOptions,
): Promise<UploadedFile> {
  const { fileId, storageUrl } = await create(file.name, file.bytes.length, options)
  options.onStep?.('create')
  await store(storageUrl, file.bytes, options)
  options.onStep?.('store')
  const uploaded = await finalise(fileId, options)
  options.onStep?.('finalise')
  return uploaded
}

async function create(file_name: string, file_size: number, options: UploadOptions) {
  const body = JSON.stringify({ file_name, file_size, use_case: 'codex' })
  const reply = await post('create', 'file_create', 'files', body, options)
  const [fileId, storageUrl] = [textOf(reply, 'file_id'), textOf(reply, 'upload_url')]
  if (fileId === undefined || /^\.*$/.test(fileId) || storageUrl === undefined || !isStorage(storageUrl))
    throw failed('create', 'the backend named no file or no place to put it', options)
  return { fileId, storageUrl }
}

async function store(url: string, bytes: Buffer, options: UploadOptions): Promise<void> {
  const headers = {
    'x-ms-blob-type': 'BlockBlob',
    'x-ms-client-request-id': randomUUID(),
    'content-length': String(bytes.length),
    accept: '*/*',
  }
  const request = { layout: 'storage_put', method: 'PUT', url, headers, body: bytes } as const
  const reply = await sent('store', options, () =>
    options.auth.clientFor().send({ ...request, signal: within(STORING, options) }),
  )
  refuseUnlessTaken('store', reply, options)
}

async function finalise(fileId: string, options: UploadOptions): Promise<UploadedFile> {
  const path = `files/${encodeURIComponent(fileId)}/uploaded`
  const limit = performance.now() + FINALISING
  for (;;) {
    const reply = await post('finalise', 'file_finalise', path, '{}', options)
    const [status, downloadUrl] = [textOf(reply, 'status'), textOf(reply, 'download_url')]
    if (status === 'success' && downloadUrl !== undefined)
      return { fileId, downloadUrl, mimeType: textOf(reply, 'mime_type') }
    if (status !== 'retry') throw failed('finalise', 'the backend did not take the file', options)
    if (performance.now() > limit) throw failed('finalise', 'the backend is not ready with the file', options)
    await cancellable(wait(ASK_AGAIN, undefined, { signal: options.signal }), options.signal)
  }
}

async function post(
  step: UploadStep,
  layout: RequestLayout,
  path: string,
  body: string,
  options: UploadOptions,
): Promise<JsonObject> {
  const url = `${options.baseUrl.replace(/\/+$/, '')}/${path}`
  const headers = { 'content-type': 'application/json', accept: '*/*' }
  const reply = await sent(step, options, () =>
    options.auth.clientFor().send({ layout, method: 'POST', url, headers, body, signal: within(REQUEST, options) }),
  )
  refuseUnlessTaken(step, reply, options)
  try {
    return objectOf(JSON.parse(reply.body)) ?? {}
  } catch (cause) {
    throw failed(step, 'the answer is no JSON', options, { cause })
  }
}

/** Neither an address of storage nor what a transport says of it is told: such addresses are keys to the file. */
async function sent(step: UploadStep, options: UploadOptions, send: () => Promise<AuthReply>): Promise<AuthReply> {
  try {
    return await send()
  } catch (error) {
    if (options.signal.aborted) throw new CancelledError()
    if (error instanceof FirstPartyAuthError || error instanceof RedirectRefusedError) throw error
    throw failed(
      step,
      error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : 'no answer',
      options,
    )
  }
}

function refuseUnlessTaken(step: UploadStep, { status }: AuthReply, options: UploadOptions): void {
  if (status < 200 || status > 299) throw failed(step, `HTTP ${status}`, options, { data: { step, status } })
}

function failed(
  step: UploadStep,
  why: string,
  { place }: UploadOptions,
  facts: { readonly cause?: unknown; readonly data?: Readonly<Record<string, unknown>> } = {},
): FileParameterError {
  const message = `${place}: the file was not uploaded, so the call was not sent (${step}: ${why})`
  return new FileParameterError('file_upload_failed', message, { data: { step }, ...facts, place })
}

function within(ms: number, { signal }: UploadOptions): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)])
}

async function cancellable(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  try {
    await work
  } catch (error) {
    throw signal.aborted ? new CancelledError() : error
  }
}

function isStorage(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return protocol === 'https:' && username === '' && password === ''
}

function textOf(reply: JsonObject, name: string): string | undefined {
  const value = member(reply, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}
