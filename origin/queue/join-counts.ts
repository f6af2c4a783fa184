/**
 * What the edge counts of those who join: for Prometheus, for the sale's minutes, and what each rule met in the
 * ledger.
 */
import type { Logger } from 'pino'
import * as v from 'valibot'
import { saleAndLineOf } from '../../shared/api/access.ts'
import { JoinCounts } from '../../shared/api/internal.ts'
import { countMet, type Met } from '../access/access-queries.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'
import type { Arrivals } from './arrivals.ts'
import type { NetworkCounts } from './network-counts.ts'
import type { ResponseTimes } from './response-times.ts'
import type { SourceCounts } from './source-counts.ts'

/**
 * Counts of rules written in one statement, and waiting for it; more are dropped. Each sale sends them once a second.
 */
const WRITES = { size: 2_000, queue: 20_000 }

interface JoinCounterDeps {
  readonly sql: Sql
  readonly metrics: Pick<Metrics, 'edgeJoins' | 'edgeRefusals' | 'edgeProofs'>
  readonly saleCounts: { count(saleId: string, name: string, by: number): void }
  readonly sources: Pick<SourceCounts, 'count'>
  readonly networks: Pick<NetworkCounts, 'count'>
  readonly arrivals: Pick<Arrivals, 'onSite'>
  readonly responseTimes: Pick<ResponseTimes, 'reported'>
  readonly log: Logger
}

export class JoinCounter {
  readonly #deps: JoinCounterDeps
  constructor(deps: JoinCounterDeps) {
    this.#deps = deps
  }

  /** Adds the counts in a state request; ignores a text in another form. */
  add(sale: string, text: string | undefined): void {
    const parsed = v.safeParse(Sent, text)
    if (!parsed.success) return
    const { joins, proofs, sources, networks, refusals, met, answers, sessions } = parsed.output
    const { saleCounts, metrics, arrivals, responseTimes, log } = this.#deps
    const { edgeJoins, edgeProofs, edgeRefusals } = metrics
    if (joins > 0) {
      edgeJoins.inc({ sale }, joins)
      saleCounts.count(sale, 'joined', joins)
      this.#countSources(sale, joins, sources)
    }
    for (const [name, seconds] of Object.entries(sessions)) {
      const { sale: number, line } = saleAndLineOf(name)
      arrivals.onSite(sale, line, Number(number), seconds)
    }
    for (const [asn, [joined, unproved]] of Object.entries(networks))
      this.#deps.networks.count(sale, Number(asn), joined, unproved)
    if (proofs > 0) edgeProofs.inc({ sale }, proofs)
    for (const [reason, count] of Object.entries(refusals)) {
      edgeRefusals.inc({ sale, reason }, count)
      saleCounts.count(sale, `join_refused.${reason}`, count)
    }
    responseTimes
      .reported(sale, Object.values(answers))
      .catch((error) => log.debug({ sale, error: String(error) }, 'answers of the site not noted'))
    // The state's response does not wait for the ledger.
    for (const [rule, many] of Object.entries(met))
      this.#met
        .add({ sale, rule, many })
        .catch((error) => this.#deps.log.debug({ sale, error: String(error) }, 'met rules not counted'))
  }

  /** A join without a source was typed. */
  #countSources(sale: string, joins: number, sources: JoinCounts['sources']): void {
    let typed = joins
    for (const [source, count] of Object.entries(sources)) {
      this.#deps.sources.count(sale, source, 'joined', count)
      typed -= count
    }
    if (typed > 0) this.#deps.sources.count(sale, undefined, 'joined', typed)
  }

  readonly #met = new Batcher<Met, null>(WRITES, async (met) => {
    await countMet(this.#deps.sql, met)
    return met.map(() => null)
  })
}

const Sent = v.pipe(v.string(), v.parseJson(), JoinCounts)
