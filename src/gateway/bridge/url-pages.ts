import { RpcError } from '../../errors.js'
import { type JsonObject, type JsonValue, RPC } from '../../protocol/index.js'
import { invalidParams, isObject } from '../relay/params.js'

/**
 * A legacy server that wants pages visited before a call says so by an error (2025-11-25, URL elicitation required); to a
 * modern client the same is a result with the questions. The call has ended and is made again after the visits.
 */
export function pagesToVisit(error: unknown): ReadonlyMap<string, JsonObject> | undefined {
  if (!(error instanceof RpcError) || error.rpcCode !== RPC.urlElicitationRequired) return undefined
  const data = error.rpcData as JsonValue | undefined
  const wanted = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations.filter(isObject) : []
  if (wanted.length === 0 || wanted.some(({ url }) => typeof url !== 'string')) return undefined
  return new Map(
    wanted.map((params, index) => [
      `page${index + 1}`,
      { method: 'elicitation/create', params: { ...params, mode: 'url' } },
    ]),
  )
}

/** @throws RpcError -32602 when an answer is missing or the user would not visit a page: then the call is of no use. */
export function requireVisits(questions: readonly string[], answers: JsonObject): void {
  for (const name of questions) {
    const answer = Object.hasOwn(answers, name) ? answers[name] : undefined
    if (!isObject(answer)) throw invalidParams(`inputResponses lacks the answer to '${name}'`)
    if (answer.action !== 'accept') {
      throw invalidParams('the call needs a page that the user did not visit', { code: 'url_elicitation_declined' })
    }
  }
}
