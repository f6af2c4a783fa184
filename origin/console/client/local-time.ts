/** Converts times between instants and the texts of fields that operators type by the clock of a time zone. Pure. */

/** The time zone of the operator's own clock. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

const DAY_MS = 86_400_000

/** The time in the format of `datetime-local`; empty if it is not a time. */
export function localOf(iso: string, zone = ZONE): string {
  const atMs = Date.parse(iso)
  if (Number.isNaN(atMs)) return ''
  // Swedish dates are written as in ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone })
  return format.format(atMs).replace(' ', 'T')
}

/**
 * The instant of a typed time. A text that is unchanged means the instant before, also in the hour that a clock shows
 * twice. Otherwise such a text means the first of both. Throws for a time that the clock skips.
 */
export function instantOf(text: string, before: string | null = null, zone = ZONE): string {
  const typed = text.length === 'YYYY-MM-DDThh:mm'.length ? `${text}:00` : text
  if (before !== null && localOf(before, zone) === typed) return before
  const asUtcMs = Date.parse(`${typed}Z`)
  const [instant] = [asUtcMs - DAY_MS, asUtcMs + DAY_MS]
    .map((nearMs) => new Date(asUtcMs - offsetAt(nearMs, zone)).toISOString())
    .filter((iso) => localOf(iso, zone) === typed)
  if (instant === undefined) throw new Error(`There is no ${typed.slice(11, 16)} on that day: the clocks go forward.`)
  return instant
}

const offsetAt = (atMs: number, zone: string) => Date.parse(`${localOf(new Date(atMs).toISOString(), zone)}Z`) - atMs
