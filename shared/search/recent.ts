/** A visitor's latest searches: ten, the newest first, one each whatever its case or spaces. */
export const MAX_RECENT = 10

export const asTyped = (q: string): string => q.trim().replace(/\s+/g, ' ')
/** The same for searches that differ in case or spaces alone. */
export const sameSearch = (q: string): string => asTyped(q).toLowerCase()

export const latestFirst = (searches: readonly string[], q: string): string[] =>
  [asTyped(q), ...searches.filter((one) => sameSearch(one) !== sameSearch(q))].filter(Boolean).slice(0, MAX_RECENT)
