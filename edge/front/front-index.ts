/**
 * The searchable entries of a catalogue and their index. Each is made once for each version, when it is first needed.
 */
import type { Catalogue } from '../../shared/api/front.ts'
import { type Entry, entriesOf } from '../../shared/search/entries.ts'
import { SearchIndex } from '../../shared/search/search-index.ts'
import { Copies } from '../http/copies.ts'
import type { Front } from './listing.ts'

/** A browser indexes at most this many entries itself. */
const MAX_IN_BROWSER = 2_000

const entries = new WeakMap<Catalogue, readonly Entry[]>()
const indexes = new Copies<SearchIndex>({ max: 1, freshMs: 86_400_000, waitMs: 15_000 })

export function entriesIn({ catalogue }: Pick<Front, 'catalogue'>): readonly Entry[] {
  const known = entries.get(catalogue) ?? entriesOf(catalogue)
  entries.set(catalogue, known)
  return known
}

/** One request builds the index, in steps between which other requests are served, and all searches wait for it. */
export const indexOf = (front: Front): Promise<SearchIndex> =>
  indexes.of(front.version, () =>
    SearchIndex.inSteps(entriesIn(front), front.catalogue.synonyms, () => scheduler.wait(0)),
  )

/** The path of the entries for a browser; null if there are too many. */
export const indexPath = (front: Pick<Front, 'catalogue' | 'version'>): string | null =>
  entriesIn(front).length > MAX_IN_BROWSER ? null : `/search/index?v=${front.version}`
