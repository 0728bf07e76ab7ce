/** The value that `percent` of the values do not exceed. */
export function percentile(values, percent) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)]
}

/** `{ median, low, high }` of the rounds' values; undefined where a value is missing. */
export function spread(values) {
  if (values.length === 0 || values.some((value) => value === undefined)) return undefined
  return { median: percentile(values, 50), low: Math.min(...values), high: Math.max(...values) }
}
