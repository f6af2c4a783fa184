/**
 * Divides a sale among its lines, for all origins: the lines' notes are one small value in Redis, replaced only by
 * who has read the latest. While Redis is away each line has the part that its weight alone gives it.
 */

import type { Logger } from 'pino'
import type { LineFigures } from '../../shared/api/internal.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { shouldLog } from '../lib/loop.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { available, inLine } from '../sales/sale-state.ts'
import type { Store } from '../stock/scripts.ts'
import type { Counts } from './arrivals.ts'
import { byWeight, divide, type LineReport, type Notes, type Parts } from './lines.ts'

/**
 * Each attempt fails if another origin has replaced the notes meanwhile: one of them has succeeded then, and a sale
 * has ten lines at most.
 */
const MAX_TRIES = 20
const REDIS_TIMEOUT_MS = 300
const NOTES_TTL_MS = 10 * 60_000

/** A line's part, as the edge receives it. */
interface LinePart {
  readonly rate_per_second: number
  readonly max_inside: number | null
  /** The fraction of the available units that this queue gets. */
  readonly share: number
}

export class LineShares {
  readonly #redis: Pick<Store, 'get' | 'replaceValue'>
  readonly #log: Logger
  #failures = 0

  constructor(redis: Pick<Store, 'get' | 'replaceValue'>, log: Logger) {
    this.#redis = redis
    this.#log = log
  }

  /**
   * A line's part of the sale now, which is all of it where the sale has no other line. `waiting_for_stock`: how many
   * visitors wait for stock.
   */
  async of(
    sale: SaleRow,
    line: string,
    figures: LineFigures | null,
    { waiting_for_stock, on_site, nowMs }: Pick<Counts, 'waiting_for_stock' | 'on_site'> & { nowMs: number },
  ): Promise<LinePart> {
    const { rate_per_second, max_inside, products } = sale
    if (!sale.lines.some((other) => other.line !== line)) return { rate_per_second, max_inside, share: 1 }
    const units = products.reduce((sum, product) => sum + available(product), 0)
    const busy = products.reduce((sum, product) => sum + product.held, waiting_for_stock + on_site)
    const inside = max_inside === null ? 0 : Math.max(0, max_inside - busy)
    const whole = { rate: rate_per_second, units, inside }
    const isOpen = (name: string) => nowMs >= inLine(sale, name).opens_at.getTime()
    const lines = sale.lines.filter((other) => other.line === line || isOpen(other.line))
    // A line that has not opened yet takes nothing from the others; its rate is what its visitors may expect.
    const given = isOpen(line)
      ? await this.#divide(sale, { line, lines, whole, report: reportOf(figures), nowMs })
      : byWeight(line, lines, whole)
    return {
      rate_per_second: given.rate,
      max_inside: max_inside === null ? null : busy + given.inside,
      share: units === 0 ? 0 : Math.min(1, given.units / units),
    }
  }

  async #divide(sale: SaleRow, asking: Parameters<typeof divide>[1]): Promise<Parts> {
    try {
      const part = await withTimeout(this.#agree(`{${sale.sale_id}}:lines`, asking), REDIS_TIMEOUT_MS)
      this.#failures = 0
      return part
    } catch (error) {
      this.#failures++
      if (shouldLog(this.#failures))
        this.#log.warn({ sale: sale.sale_id, error: String(error) }, 'lines are divided by weight alone')
      return byWeight(asking.line, sale.lines, asking.whole)
    }
  }

  async #agree(key: string, asking: Parameters<typeof divide>[1]): Promise<Parts> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const read = (await this.#redis.get(key)) ?? ''
      const { given, notes } = divide(notesIn(read), asking)
      if ((await this.#redis.replaceValue(key, read, JSON.stringify(notes), NOTES_TTL_MS)) === 1) return given
    }
    throw new Error('other origins were faster')
  }
}

/** Notes in an unknown form count as none. */
function notesIn(text: string): Notes {
  if (text === '') return {}
  const notes = JSON.parse(text) as Notes
  const isNote = ({ given, held, coming }: Notes[string]) => given && held && coming
  return Object.values(notes).every(isNote) ? notes : {}
}

const reportOf = (figures: LineFigures | null): LineReport => ({
  waiting: figures?.waiting ?? 0,
  coming: { units: figures?.coming_units ?? 0, inside: figures?.coming_people ?? 0 },
})
