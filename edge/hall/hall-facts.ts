/**
 * The facts of a sale's hall that pages show without a map: its prices, and the row and number of a seat. They come
 * from the hall's chart, which never changes under its version, so an isolate reads each version from the origin
 * once. Without them pages offer fewer choices.
 */
import type { ChartDocument } from '../../shared/api/hall.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Call } from '../http/call.ts'
import { callInternal } from '../http/origin.ts'
import type { HallFacts } from '../pages/view.ts'
import type { SaleNow } from '../queue/sale-cache.ts'

/** A hall of 20,000 seats takes about three megabytes here. */
const MAX_HALLS = 4
/** A turn's page waits for at most this long; the next request may find the chart. */
const WAIT_MS = 1_500

/**
 * The facts by sale and version. Only results are stored, because a pending request belongs to the visitor who made
 * it.
 */
const halls = new RecentMap<string, HallFacts>(2 * MAX_HALLS)

/** Returns null for a sale without a hall, or while its chart cannot be read. */
export async function hallFacts(
  { sale, facts }: Pick<SaleNow, 'sale' | 'facts'>,
  call: Call,
): Promise<HallFacts | null> {
  const version = facts.chart_version
  if (version === null) return null
  const key = `${sale} ${version}`
  const known = halls.get(key)
  if (known) return known
  const read = readChart(sale, version, call).then((facts) => {
    if (facts) halls.set(key, facts)
    return facts
  })
  return Promise.race([read, scheduler.wait(WAIT_MS).then(() => null)])
}

async function readChart(sale: string, version: number, call: Call): Promise<HallFacts | null> {
  try {
    const response = await callInternal(`/sales/${sale}/chart?v=${version}`, call)
    return response.ok ? factsOf((await response.json()) as ChartDocument) : null
  } catch {
    return null
  }
}

function factsOf({ categories, sections }: Pick<ChartDocument, 'categories' | 'sections'>): HallFacts {
  const bySection = new Map(
    sections.map(({ section_id, seats }) => [
      section_id,
      new Map(seats.map(({ seat_id, row, number, price_minor }) => [seat_id, { row, number, price_minor }])),
    ]),
  )
  return {
    categories: categories.map(({ price_to_minor, ...category }) => ({
      ...category,
      price_to_minor: price_to_minor ?? category.price_minor,
    })),
    kinds: new Set(sections.flatMap(({ seats }) => seats.map(({ kind }) => kind))),
    seat: (section, seat) => bySection.get(section)?.get(seat),
  }
}
