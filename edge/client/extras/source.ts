/**
 * Where this visit came from: the campaign in the address of its first page, and the site that linked to it. It stays
 * in this tab for the visit, because later pages have neither.
 */
import { each } from '../page.ts'

const KEY = 'source'
const FIELDS = ['utm_source', 'utm_medium', 'utm_campaign'] as const
/** Longer texts are cut off, because a server refuses them. */
const MAX_TEXT = 200

/** The source of the visit, in the fields of a join and of a view; empty if nothing says where it came from. */
export function sourceOfVisit(): Readonly<Record<string, string>> {
  const known = stored()
  if (known) return known
  const parameters = new URLSearchParams(location.search)
  const source: Record<string, string> = {}
  for (const field of FIELDS) {
    const value = parameters.get(field)
    if (value) source[field] = value.slice(0, MAX_TEXT)
  }
  const [, , host] = document.referrer.split('/')
  if (host && host !== location.host) source.referrer = host.slice(0, MAX_TEXT)
  try {
    sessionStorage.setItem(KEY, JSON.stringify(source))
  } catch {
    // The browser has no storage, so each page says what it knows.
  }
  return source
}

function stored(): Readonly<Record<string, string>> | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
  } catch {
    return null
  }
}

/** Writes the source into the forms to join, because a page that is the same for all visitors cannot contain it. */
export function fillSource(): void {
  const source = String(new URLSearchParams(sourceOfVisit()))
  if (source === '') return
  each<HTMLFormElement>('form[action$="/queue"]', (form) => {
    if (form.elements.namedItem(KEY)) return
    const field = document.createElement('input')
    Object.assign(field, { type: 'hidden', name: KEY, value: source })
    form.append(field)
  })
}
