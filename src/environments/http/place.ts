/**
 * A URL as error texts and logs may show it: origin and path. Query, fragment and user info are left out, since they
 * may hold secrets. Text that is no URL gives `(unreadable URL)`.
 */
export function placeOf(url: string | URL): string {
  const parsed = typeof url === 'string' ? parseUrl(url) : url
  return parsed === undefined ? '(unreadable URL)' : `${parsed.origin}${parsed.pathname}`
}

/** Undefined when the text is no absolute URL. */
export function parseUrl(text: string, base?: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined
}
