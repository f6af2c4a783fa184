/** The four figures of a running sale, with words where there is no figure yet. */

import type { Second } from '../../../../../shared/api/operators/seconds.ts'
import { money } from '../../../../../shared/format.ts'
import { count, figure } from '../../format.ts'
import { Ring, Spark, stockShares } from '../../sheet/marks.tsx'
import type { Live } from './live-stream.ts'

interface FiguresProps {
  readonly live: Live
  readonly seconds: readonly Second[]
}

/** The pace is the mean of so many seconds. */
const PACE_SECONDS = 30

export function LiveFigures({ live: { state, funnel }, seconds }: FiguresProps) {
  const { sold, held, available, buffer, total } = state.invariant
  const currency = state.products[0]?.currency ?? 'EUR'
  const { paid, arrived, waiting, revenue_minor: revenue } = funnel
  const shares = stockShares({ sold, held })
  const pace = paceOf(seconds)
  return (
    <dl class="figs">
      <div class="fig first has-ring">
        <dt>{state.phase === 'upcoming' ? 'To sell' : 'Sold'}</dt>
        <dd class="at-ring">
          <Ring shares={shares} total={total} />
        </dd>
        <dd class="big">
          {state.phase === 'upcoming' ? (
            count(available)
          ) : (
            <>
              {count(sold)} <small>of {count(total)}</small>
            </>
          )}
        </dd>
        <dd class="key">
          <span>
            <i style="--c: var(--c1)" />
            <b>{count(sold)}</b> sold
          </span>
          <span>
            <i style="--c: var(--c2)" />
            <b>{count(held)}</b> held
          </span>
          <span>
            <i />
            <b>{count(available)}</b> free
          </span>
          {buffer > 0 && (
            <span>
              <b>{count(buffer)}</b> withheld
            </span>
          )}
        </dd>
      </div>
      <div class="fig">
        <dt>Revenue</dt>
        {revenue === 0 ? (
          <dd class="soon">from the first who pays</dd>
        ) : (
          <>
            <dd class="big">{money('en', revenue, currency)}</dd>
            <dd class="small quiet">
              {pace > 0 ? `${money('en', Math.round(pace), currency)} a second now` : 'before refunds'}
            </dd>
            <dd>
              <Spark values={seconds.map(({ paid_minor }) => paid_minor)} />
            </dd>
          </>
        )}
      </div>
      <div class="fig">
        <dt>Waiting</dt>
        <dd class="big">{waiting === null ? '–' : count(waiting)}</dd>
        <dd class="small quiet">{waitNote(state, waiting)}</dd>
        <dd>
          <Spark values={seconds.map(({ waiting }) => waiting)} colour="--c3" />
        </dd>
      </div>
      <div class="fig">
        <dt>Conversion</dt>
        {arrived === null || arrived === 0 ? (
          <dd class="soon">from the first who comes</dd>
        ) : (
          <>
            <dd class="big">{figure((100 * Math.min(paid, arrived)) / arrived)} %</dd>
            <dd class="small quiet">paid, of {count(arrived)} who came</dd>
          </>
        )}
      </div>
    </dl>
  )
}

function paceOf(seconds: readonly Second[]): number {
  const known = seconds.slice(-PACE_SECONDS).flatMap(({ paid_minor }) => paid_minor ?? [])
  return known.length === 0 ? 0 : known.reduce((sum, one) => sum + one, 0) / known.length
}

function waitNote({ phase, queue, invariant, limit_per_visitor }: Live['state'], waiting: number | null): string {
  if (waiting === null) return 'not known: the edge has not asked yet'
  if (phase === 'upcoming') return waiting === 0 ? 'the first is here within a second' : 'in the lobby'
  if (phase === 'all_in_carts' || phase === 'paused') return 'the line stands'
  const reach = Math.floor(invariant.available / Math.max(1, limit_per_visitor))
  if (waiting > reach && invariant.available > 0) return `the stock reaches at least place ${count(Math.max(1, reach))}`
  return queue.wait_seconds === null
    ? 'people'
    : `the last waits about ${Math.max(1, Math.round(queue.wait_seconds / 60))} min`
}
