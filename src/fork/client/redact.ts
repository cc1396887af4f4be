// URLs in logs and errors: they name the host, and never the key that stands in path, query or user info.

/** The scheme, host and port of a URL; what cannot be read is not shown at all. */
export function shownUrl(url: string): string {
  try {
    const { protocol, host, pathname, search, username } = new URL(url)
    const hasMore = pathname.length > 1 || search !== '' || username !== ''
    return `${protocol}//${host}${hasMore ? '/…' : ''}`
  } catch {
    return 'a text that is no URL'
  }
}

/** A text of another program without the URL and its secret parts, which servers and libraries like to quote. */
export function withoutSecrets(text: string, url: string): string {
  let shown = text.replaceAll(url, shownUrl(url))
  for (const secret of secretsOf(url)) shown = shown.replaceAll(secret, '…')
  return shown.replace(/\s+/g, ' ').slice(0, MOST_SHOWN)
}

/** Characters of a foreign text that are shown. */
const MOST_SHOWN = 300

/** Shorter parts of a URL are words. */
const LEAST_SECRET = 8

function secretsOf(url: string): readonly string[] {
  try {
    const { pathname, searchParams, username, password } = new URL(url)
    const parts = [...pathname.split('/'), ...searchParams.values(), username, password]
    const all = parts.flatMap((part) => [part, decodeURIComponent(part)])
    return all.filter(({ length }) => length >= LEAST_SECRET)
  } catch {
    return []
  }
}
