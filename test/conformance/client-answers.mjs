/**
 * Answers what a server asks of its client: forms with their defaults, the model with one sentence.
 *
 * @param {{ method: string, params: object | undefined }} request
 * @param {{ beforeAnswer?: () => Promise<unknown> }} interplay what a scenario wants to happen while a question is open
 */
export async function answerServer({ method, params }, interplay) {
  await interplay.beforeAnswer?.()
  if (method === 'elicitation/create') return { action: 'accept', content: contentFor(params.requestedSchema) }
  if (method === 'roots/list') return { roots: [{ uri: 'file:///', name: 'root' }] }
  if (method === 'sampling/createMessage') return sample()
  throw new Error(`asked for ${method}`)
}

const sample = () => ({
  role: 'assistant',
  content: { type: 'text', text: 'An answer' },
  model: 'none',
  stopReason: 'endTurn',
})

const BY_TYPE = { string: 'text', number: 1, integer: 1, boolean: true, array: [], object: {} }

/** A value for each property: its default, its first choice, or the simplest of its type. */
export function contentFor(schema = {}) {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, valueFor(property)]),
  )
}

function valueFor(property) {
  return property.default ?? property.enum?.[0] ?? property.oneOf?.[0]?.const ?? BY_TYPE[property.type] ?? 'text'
}
