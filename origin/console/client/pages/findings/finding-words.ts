/** Findings in words, for the page of all findings. Pure. */

import type { SeenFinding } from '../../../../../shared/api/operators/alerts.ts'
import type { AsJson } from '../../../../../shared/api/operators/answers.ts'
import { capital } from '../../../../../shared/format.ts'

export type Finding = AsJson<SeenFinding>

const IN_WORDS = ['Nothing needs', 'One thing needs', 'Two things need', 'Three things need', 'Four things need']

export function verdictOf(open: readonly Pick<Finding, 'level'>[]) {
  const isBad = open.some(({ level }) => level === 'bad')
  const demand = `${IN_WORDS[open.length] ?? `${open.length} things need`} you${isBad ? ' now' : ''}.`
  const level = isBad ? 'bad' : open.length > 0 ? 'watch' : 'good'
  return { level, text: open.length === 0 ? `All is as it should be. ${demand}` : demand } as const
}

export function titleOf({ kind }: Pick<Finding, 'kind'>): string {
  return capital(kind.replaceAll('_', ' '))
}

/** The sale, the product and the units that it is about, and why it is so. */
export const aboutOf = ({ sale, sale_name, product_id, units, reason }: Finding): string =>
  [
    sale_name ?? sale,
    product_id,
    units > 0 && `${units} ${units === 1 ? 'unit' : 'units'}`,
    reason && reason.charAt(0).toLowerCase() + reason.slice(1),
  ]
    .filter(Boolean)
    .join(', ')

/** The page to open. A part of a sale's page is on that sale's page. */
export function hrefOf({ place, sale }: Finding): string {
  if (place.href.startsWith('/')) return place.href
  return sale === null ? '/console/queues' : `/console/sales/${encodeURIComponent(sale)}${place.href}`
}
