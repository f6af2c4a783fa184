/** Content negotiation by the `Accept` header (RFC 9110, 12.5.1), for both halves. */
import { parseAccept } from 'hono/utils/accept'

interface Preference {
  /** The weight from 0 to 1; 0 means that the client does not accept the type. */
  readonly quality: number
  /** How exactly the header names the type: 2 by its name, 1 by `text/*`, 0 by `*` or not at all. */
  readonly exactness: 0 | 1 | 2
}

const NOT_NAMED: Preference = { quality: 0, exactness: 0 }

/**
 * The first of the types that the client prefers to all others, or null if the header names none of them by its name
 * or by its kind, as `*` alone does. Of equal weights the more exactly named type comes first.
 *
 * @example preferred('text/html;q=0.5, Application/JSON', ['text/html', 'application/json']) // 'application/json'
 */
export function preferred<T extends string>(accept: string | null | undefined, types: readonly T[]): T | null {
  if (!accept) return null
  const ranges = parseAccept(accept)
  let best: T | null = null
  let bestPreference = NOT_NAMED
  for (const type of types) {
    const preference = preferenceFor(type, ranges)
    if (preference.quality === 0 || preference.quality < bestPreference.quality) continue
    if (preference.quality === bestPreference.quality && preference.exactness <= bestPreference.exactness) continue
    best = type
    bestPreference = preference
  }
  return bestPreference.exactness === 0 ? null : best
}

/** The most exact range that contains the type decides, whatever its weight. */
function preferenceFor(type: string, ranges: ReturnType<typeof parseAccept>): Preference {
  const kind = `${type.slice(0, type.indexOf('/'))}/*`
  let found: Preference | undefined
  for (const range of ranges) {
    const name = range.type.toLowerCase()
    const exactness = name === type ? 2 : name === kind ? 1 : name === '*/*' ? 0 : null
    if (exactness !== null && (!found || exactness > found.exactness)) found = { quality: range.q, exactness }
  }
  return found ?? NOT_NAMED
}
