/** Whether an `Accept` header takes `type`. Absent takes everything (RFC 9110, 12.5.1). */
export function accepts(header: string | undefined, type: string): boolean {
  if (header === undefined) return true
  const family = `${type.split('/')[0]}/*`
  return header.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    return !refused && (name === type || name === family || name === '*/*')
  })
}

/** Whether a `Content-Type` is JSON in the one encoding that JSON has. */
export function isJson(header: string | undefined): boolean {
  const [name, ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase())
  if (name !== 'application/json') return false
  return parameters.every((parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter))
}
