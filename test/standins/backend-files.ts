import { type BackendModel, type BackendReply, json, type SeenRequest } from './backend-model.js'

export const CREATE = 'POST /backend-api/files'

export interface UploadScript {
  readonly id?: string
  readonly storageUrl?: string
  /** Instead of the usual answer of a step. */
  readonly create?: BackendReply
  readonly store?: BackendReply
  readonly finalise?: readonly BackendReply[]
}

/** The backend takes one more upload. */
export function takeUpload(model: BackendModel, script: UploadScript = {}): void {
  const { id = 'file-1', storageUrl = `https://api.openai.com/storage/${id}?sig=secret-of-storage` } = script
  const ready = json(200, {
    status: 'success',
    download_url: `https://api.openai.com/download/${id}`,
    file_name: 'as-the-backend-says',
    mime_type: 'text/plain',
  })
  add(model, CREATE, script.create ?? json(200, { file_id: id, upload_url: storageUrl }))
  add(model, `PUT ${new URL(storageUrl).pathname}`, script.store ?? { status: 201 })
  for (const reply of script.finalise ?? [ready]) add(model, `POST /backend-api/files/${id}/uploaded`, reply)
}

function add({ pathReplies }: BackendModel, key: string, reply: BackendReply): void {
  pathReplies.set(key, [...(pathReplies.get(key) ?? []), reply])
}

/** Requests of uploads, in order. */
export function uploadsIn({ requests }: BackendModel): readonly SeenRequest[] {
  return requests.filter(({ path }) => path.startsWith('/backend-api/files') || path.startsWith('/storage/'))
}
