/**
 * The queue of a sale: its length, its real and its requested rate, the waits, and the time until the stock is sold.
 */
import { clock, roughly } from '../../../../../shared/format.ts'
import { figure, TableHead, time } from '../../parts.tsx'
import { RateControl } from './controls.tsx'
import type { Live } from './live-stream.ts'

export function Queue({ live, nowMs }: { live: Live; nowMs: number }) {
  const { state, forecast, minutes } = live
  const { queue, rates, admission } = state
  const known = (value: number | null | undefined) => (value == null ? '–' : figure(value))
  const runs = state.phase === 'open'
  const called =
    queue.called === null || !runs ? null : minutes.findLast(({ gauges }) => gauges.called_per_second !== undefined)
  const real = minutes.findLast(({ gauges }) => gauges.wait_real !== undefined)?.gauges.wait_real ?? null
  const soldOut = forecast.sold_out_at
  return (
    <section class="card" aria-label="The line">
      <div class="card-head">
        <h2>The line</h2>
        <RateControl state={state} />
      </div>
      <dl class="facts">
        <Fact name="waiting" value={known(live.funnel.waiting)} note="people" />
        <Fact
          name="called a second"
          value={known(called?.gauges.called_per_second)}
          note={`of ${figure(admission.rate_per_second)} asked for`}
        />
        <Fact
          name="wait of the last in line"
          value={queue.wait_seconds === null ? '–' : clock('en', queue.wait_seconds)}
          note={waitNote(live, real)}
        />
        <Fact
          name="likely sold out"
          value={soldOut === null ? '–' : `in about ${roughly('en', (Date.parse(soldOut) - nowMs) / 1000)}`}
          note={soldOut === null ? forecastNote(live) : `at about ${time(soldOut).slice(0, -3)}`}
        />
      </dl>
      {runs && rates.throttle !== null && rates.throttle < 1 && (
        <p class="hint">
          The line is slowed to {Math.round(100 * rates.throttle)} % of its rate, since the origin is slow.
        </p>
      )}
      {runs && rates.boost !== null && rates.boost > 1.01 && (
        <p class="hint">The line runs at {Math.round(100 * rates.boost)} %, to make up for people who do not come.</p>
      )}
      {queue.lines.length > 1 && (
        <table>
          <TableHead columns={['Line', 'Waiting', 'Called']} />
          <tbody>
            {queue.lines.map(({ line, waiting, called }) => (
              <tr key={line}>
                <th scope="row">{line}</th>
                <td class="number">{known(waiting)}</td>
                <td class="number">{known(called)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

/** The measured wait, or the reason why it is unknown. */
function waitNote({ state: { phase, queue } }: Live, realSeconds: number | null): string {
  if (realSeconds !== null) return `measured last: ${clock('en', realSeconds)}`
  if (phase === 'all_in_carts' || phase === 'paused') return 'the line stands'
  return queue.wait_seconds === null && (queue.waiting ?? 0) > 0 ? 'depends on what is left' : 'minutes : seconds'
}

/** The reason why the time of the last sale cannot be predicted. */
function forecastNote({ state: { phase, invariant }, funnel }: Live): string {
  if (phase === 'all_in_carts' || (invariant.available === 0 && invariant.held > 0)) return 'all units are in carts'
  if (phase === 'sold_out') return 'it is'
  if (phase === 'ended') return 'the sale is over'
  return phase === 'open' && funnel.waiting === 0 ? 'nobody waits' : 'unknown yet'
}

function Fact({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} <small>{note}</small>
      </dd>
    </div>
  )
}
