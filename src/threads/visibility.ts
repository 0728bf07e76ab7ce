import type { JsonObject } from '../protocol/index.js'

/**
 * Whether a model may see a tool: no, when `_meta.ui.visibility` is an array without `model`. Missing, or anything but an
 * array, means yes (reference: tool-calls, 1).
 */
export function isModelVisible(definition: JsonObject): boolean {
  const visibility = member(member(definition._meta, 'ui'), 'visibility')
  return !Array.isArray(visibility) || visibility.includes('model')
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}
