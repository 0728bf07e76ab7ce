import type { JsonObject } from '../../protocol/index.js'

/** The member of `_meta` that tells what comes of hooks from what comes of a server. */
export const HOOK_CONTEXT_META = 'reeve/hook_context'

/**
 * What hooks say to a model beside one result. Clients show models the content of a result and not its `_meta`, so it is
 * told as further content, behind the server's own and marked; all else of the result stays as it is, its structured
 * content too.
 */
export class HookContext {
  readonly #texts: string[] = []

  readonly add = (text: string): void => {
    this.#texts.push(text)
  }

  beside(result: JsonObject): JsonObject {
    if (this.#texts.length === 0) return result
    const { content, _meta } = result
    // No result yet, such as a task or a question: there is no content that a model sees.
    if (!Array.isArray(content))
      return { ...result, _meta: { ...(isObject(_meta) ? _meta : {}), [HOOK_CONTEXT_META]: this.#texts } }
    const told = this.#texts.map((text) => ({ type: 'text', text, _meta: { [HOOK_CONTEXT_META]: true } }))
    return { ...result, content: [...content, ...told] }
  }
}

function isObject(value: JsonObject[string] | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
