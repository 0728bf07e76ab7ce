import type { JsonObject } from '../../../src/protocol/index.js'
import type { RawSession } from './raw-http.js'

/** The result of a request that gets one message back; its error is thrown. */
export async function resultOf(session: RawSession, method: string, params?: JsonObject): Promise<JsonObject> {
  const answer = (await session.request(method, params)).json()
  if (answer.error !== undefined) throw Object.assign(new Error('refused'), answer.error)
  return answer.result as JsonObject
}

export function textOf(result: JsonObject): string {
  return ((result.content as JsonObject[])[0]?.text ?? '') as string
}

export async function toolNames(session: RawSession): Promise<string[]> {
  return ((await resultOf(session, 'tools/list')).tools as { name: string }[]).map(({ name }) => name)
}
