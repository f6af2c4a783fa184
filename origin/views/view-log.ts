/**
 * Takes the views that the edge has gathered, and writes them to the raw log once a second, or sooner when there are
 * many. The edge does not wait for the ledger. A process that dies loses the views of its last second. While the ledger
 * is away the buffer fills; what exceeds it is dropped, and said by a metric and a finding.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ViewBatch, ViewEvent } from '../../shared/api/views/view-events.ts'
import { hashOf } from '../../shared/lib/hash.ts'
import type { Metrics } from '../base/metrics.ts'
import { close, NO_SALE, openFinding } from '../findings/finding-queries.ts'
import { isLedgerAway, type Sql } from '../ledger/connection.ts'
import { type Loop, type LoopDeps, writingLoop } from '../lib/loop.ts'
import type { Sales } from '../sales/sales.ts'

/** Sessions that write and count views are apart from those that checkouts wait for. */
export const VIEW_SESSIONS = { application: 'flash-sale-views', statementMs: 10_000 }

const WRITE_MS = 1_000
/** This many events are written without a further wait; also the most of one transaction. */
const WRITE_EVENTS = 2_000
/** The buffer holds some seconds of a large sale, about 20 MB. */
const MAX_EVENTS = 40_000
/** One batch may name at most this many sales that this process does not know, since names can be invented. */
const MAX_LOOKUPS = 10
const STOP_TIMEOUT_MS = 2_000

/** The log is counted in this many parts, by several workers. All beacons of one address in a sale are in one part. */
export const PARTS = 8
const partOf = ({ sale, address }: Pick<ViewEvent, 'sale' | 'address'>) => hashOf(address, hashOf(sale ?? '')) % PARTS

interface ViewLogDeps extends LoopDeps {
  /** A connection of its own. */
  readonly sql: Sql
  readonly sales: Pick<Sales, 'get' | 'find'>
  readonly metrics: Pick<Metrics, 'actorSuccess' | 'actorFailures' | 'findings' | 'viewEvents' | 'viewsDropped'>
}

export class ViewLog {
  readonly #deps: ViewLogDeps
  readonly #maxEvents: number
  #events: ViewEvent[] = []
  /** Events dropped since the last write that succeeded. */
  #dropped = 0
  readonly actor: Loop

  constructor(deps: ViewLogDeps, maxEvents = MAX_EVENTS) {
    this.#deps = deps
    this.#maxEvents = maxEvents
    this.actor = writingLoop('view log', WRITE_MS, deps, () => this.#write(), STOP_TIMEOUT_MS)
  }

  async add({ dropped, events }: ViewBatch): Promise<void> {
    const { metrics } = this.#deps
    if (dropped > 0) metrics.viewsDropped.inc({ where: 'edge' }, dropped)
    const known = await this.#ofKnownSales(events)
    if (known.length < events.length) metrics.viewsDropped.inc({ where: 'unknown sale' }, events.length - known.length)
    const room = Math.max(0, this.#maxEvents - this.#events.length)
    this.#drop(known.length - room)
    this.#events.push(...known.slice(0, room))
    if (this.#events.length >= WRITE_EVENTS) this.actor.wake()
  }

  /** Anyone can invent the name of a sale, and each would have rows of its own. */
  async #ofKnownSales(events: readonly ViewEvent[]): Promise<ViewEvent[]> {
    const { sales } = this.#deps
    const isKnown = (sale: string) => sales.get(sale) !== undefined
    const names = new Set(events.flatMap(({ sale }) => (sale === null || isKnown(sale) ? [] : sale)))
    const lookups = [...names].slice(0, MAX_LOOKUPS).map((sale) => sales.find(sale).catch(() => undefined))
    const found = new Set((await Promise.all(lookups)).map((sale) => sale?.sale_id))
    return events.filter(({ sale }) => sale === null || isKnown(sale) || found.has(sale))
  }

  #drop(events: number): void {
    if (events <= 0) return
    this.#dropped += events
    this.#deps.metrics.viewsDropped.inc({ where: 'origin' }, events)
  }

  /** The result is true if more than a transaction's events wait. */
  async #write(): Promise<boolean> {
    const { sql, metrics, log } = this.#deps
    const events = this.#events.slice(0, WRITE_EVENTS)
    if (events.length > 0)
      await appendViews(sql, events).catch((error) => {
        if (isLedgerAway(error)) throw error
        // The same events would fail again, and hold up all later ones.
        log.error({ events: events.length, error: String(error) }, 'views not writable')
        this.#drop(events.length)
      })
    this.#events.splice(0, events.length)
    metrics.viewEvents.inc(events.length)
    if (this.#dropped > 0) await this.#reportDropped()
    return this.#events.length >= WRITE_EVENTS
  }

  /** The finding is closed at once: it says what is missing from the counts, and there is nothing left to do. */
  async #reportDropped(): Promise<void> {
    const { sql, metrics } = this.#deps
    const events = this.#dropped
    await openFinding(sql, metrics, { sale: NO_SALE, product: '', kind: 'views_dropped', detail: { events } })
    this.#dropped -= events
    await close(sql, NO_SALE, '', 'views_dropped', `${events} beacons of views were dropped while the ledger was away`)
  }
}

/** Writes events in one transaction, in the order of commit. */
export async function appendViews(sql: Sql, events: readonly ViewEvent[]): Promise<void> {
  await sql.begin(async (tx) => {
    const [batch] = await tx<{ first_seq: number; written_at: string }[]>`
      select first_seq, written_at::text from begin_view_batch(${events.length})`
    if (!batch) throw new Error('begin_view_batch returned no row')
    const { first_seq, written_at } = batch
    const rows = events.map((event, at) => rowOf(first_seq + at, written_at, event)).join('')
    const log =
      await tx`copy view_log (seq, written_at, part, sale_id, view, page, seen_seconds, at, pseudonym, address,
      network, asn, country, device, language, source) from stdin`.writable()
    await pipeline(Readable.from([Buffer.from(rows)]), log)
  })
}

/** A row in the text format of COPY. The schema of an event allows no character that this format escapes. */
function rowOf(seq: number, writtenAt: string, event: ViewEvent): string {
  const { view, page, seen_seconds, at_ms, pseudonym, address, network, asn, country, device, language, source } = event
  const at = new Date(at_ms).toISOString()
  const fields = [
    ...[seq, writtenAt, partOf(event), event.sale ?? '', view, page, seen_seconds, at, pseudonym, address, network],
    ...[asn, country, device, language, source],
  ]
  return `${fields.map((field) => field ?? '\\N').join('\t')}\n`
}
