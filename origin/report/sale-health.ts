/** Is it going well? One line for the operator, the worst thing first, with what to do about it. Pure. */
import type { SaleState } from '../../shared/api/internal.ts'
import type { Health, HealthSummary, Minute } from '../../shared/api/live.ts'

export interface Situation extends Health {
  readonly phase: SaleState['phase']
  /** Whether held + sold + free = total, in the ledger and at the gate. */
  readonly adds_up: boolean
  readonly findings: number
  /** Seconds that the oldest charge has waited; null if none waits. */
  readonly oldest_charge_seconds: number | null
  readonly waiting: number | null
}

/** The edge asks once a second while a sale is live. */
const EDGE_GONE_SECONDS = 15
const CHARGE_LATE_SECONDS = 60

export function summaryOf(s: Situation): HealthSummary {
  const isLive = s.phase === 'open' || s.phase === 'all_in_carts'
  if (!s.adds_up) return bad('Stock does not add up. The reconciler repairs it within seconds; see the findings.')
  if (!s.ledger && !s.redis)
    return bad('Neither Postgres nor Redis answers. Nothing is sold, and everyone keeps their place. Start them again.')
  if (!s.ledger)
    return bad(
      'Postgres does not answer. Orders are accepted within a bound, and recorded when it is back. Start it again; if that takes minutes, pause.',
    )
  if (!s.redis)
    return bad(
      'Redis does not answer. Postgres decides alone, exactly and more slowly. Start it again, and let the sale run.',
    )
  if (s.workers === 0)
    return bad('No worker runs: nobody is charged, and no hold ends. Start an origin with ROLE=worker or all.')
  if (isLive && (s.edge_seconds === null || s.edge_seconds > EDGE_GONE_SECONDS))
    return bad('The edge has not asked for a while. Nobody is called in until it does. See whether its page opens.')
  if (s.provider === 'fails')
    return bad(
      'The provider of payments does not answer. Charges are tried again. Pause if it lasts longer than a hold.',
    )
  if ((s.oldest_charge_seconds ?? 0) > CHARGE_LATE_SECONDS)
    return bad('Charges wait for more than a minute. See the provider, and whether a worker runs.')
  if (s.findings > 0)
    return watch(`${s.findings} ${s.findings === 1 ? 'finding is' : 'findings are'} open. Below is what to do.`)
  switch (s.phase) {
    case 'upcoming':
      return good('All is ready. The sale opens by itself.')
    case 'paused':
      return watch('The sale is paused. Everyone keeps their place. Resume when it can go on.')
    case 'all_in_carts':
      return good('All units are in carts. Some may come back; nobody else is called until then.')
    case 'sold_out':
      return good('Sold out.')
    case 'ended':
      return good('The sale is over.')
    case 'open':
      return good((s.waiting ?? 0) > 0 ? 'It goes well.' : 'It goes well. Nobody waits.')
  }
}

const good = (text: string): HealthSummary => ({ level: 'good', text })
const watch = (text: string): HealthSummary => ({ level: 'watch', text })
const bad = (text: string): HealthSummary => ({ level: 'bad', text })

/** Full minutes on which a forecast is based. */
const PACE_MINUTES = 5
const MINUTE_MS = 60_000

/**
 * When the last unit is likely to be sold at the pace of the last minutes (ms since the epoch); null while nobody knows: nothing is
 * free, or nobody waits for it.
 */
export function soldOutAtMs(minutes: readonly Pick<Minute, 'minute' | 'gauges'>[], nowMs: number): number | null {
  const [first, last] = [minutes[0], minutes.at(-1)?.gauges]
  if (!first || !last) return null
  const endMs = ({ minute }: { readonly minute: string }) => Date.parse(minute) + MINUTE_MS
  // A quiet sale has no minutes: what it had sold by then is what the minute before says.
  const startMs = Math.max(endMs(first), nowMs - PACE_MINUTES * MINUTE_MS)
  const then = minutes.findLast((one) => endMs(one) <= startMs)?.gauges ?? first.gauges
  const left = (last.available ?? 0) + (last.held ?? 0)
  const sold = (last.sold ?? 0) - (then.sold ?? 0)
  const elapsedMs = nowMs - startMs
  if (!last.available || !last.waiting || sold <= 0 || elapsedMs <= 0) return null
  return nowMs + (left * elapsedMs) / sold
}
