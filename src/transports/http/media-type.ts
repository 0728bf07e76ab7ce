/** The type and subtype in lower case, without parameters; undefined when there is none. */
export function mediaType(field: string | undefined): string | undefined {
  const type = field?.split(';', 1)[0]?.trim().toLowerCase()
  return type === undefined || type === '' ? undefined : type
}

export const JSON_TYPE = 'application/json'
export const EVENTS_TYPE = 'text/event-stream'
