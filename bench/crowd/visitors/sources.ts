/**
 * Where the visitors of a rehearsal came from. Each says it as its kind of client does, and the sale's funnel must have
 * it by the same label.
 */
import { type Source, sourceLabel } from '../../../shared/api/views/source.ts'

/** Every fourth visitor types the address. */
const SOURCES: readonly (Source | undefined)[] = [
  undefined,
  { utm_source: 'Newsletter', utm_campaign: 'Spring Drop' },
  { referrer: 'https://www.search.test/?q=drop' },
  { utm_source: 'ads', utm_medium: 'cpc', referrer: 'social.test' },
]

export const sourceOf = (visitor: number): Source | undefined => SOURCES[visitor % SOURCES.length]

/** The label by which the visitor counts. */
export const sourceLabelOf = (visitor: number): string => sourceLabel(sourceOf(visitor))
