/**
 * A visitor's latest searches: at most ten, the newest first, without duplicates that differ only in case or spaces.
 */
export const MAX_RECENT = 10

export const asTyped = (q: string): string => q.trim().replace(/\s+/g, ' ')
/** A key that is the same for searches that differ only in case or spaces. */
export const sameSearch = (q: string): string => asTyped(q).toLowerCase()

export const latestFirst = (searches: readonly string[], q: string): string[] =>
  [asTyped(q), ...searches.filter((one) => sameSearch(one) !== sameSearch(q))].filter(Boolean).slice(0, MAX_RECENT)
