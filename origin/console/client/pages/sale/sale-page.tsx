/**
 * The live page of one sale. It shows whether the sale goes well and which control to use, and places each control
 * next to what it changes.
 */
import './sale.css'
import { clock } from '../../../../../shared/format.ts'
import { FlowChart, RateChart, WaitChart, WaitingChart } from '../../charts.tsx'
import { fillGaps } from '../../gap-fill.ts'
import { count, Failure, instant, Loading, useTitle, whoCame } from '../../parts.tsx'
import { type NoticeControl, Notices, PhaseControls } from './controls.tsx'
import { Needs, Parts } from './health.tsx'
import { type Live, minuteAgo, OLD_AFTER_MS, useLive } from './live-stream.ts'
import { Queue } from './queue.tsx'
import { Refusals } from './refusals.tsx'
import { Stock } from './stock.tsx'

interface SaleProps {
  readonly sale: string
  /** What features offer to change what visitors read. */
  readonly notices: readonly NoticeControl[]
}

export function SalePage({ sale, notices }: SaleProps) {
  const { seen, error } = useLive(sale)
  const mark = seen?.live.summary.level === 'bad' ? '⚠ ' : ''
  useTitle(seen ? `${mark}${seen.live.state.name} · Console` : 'Console')
  if (seen === null) return error ? <Failure error={error} /> : <Loading />
  const { live, ageMs, nowMs } = seen
  return (
    <>
      <Banner live={live} ageMs={ageMs} nowMs={nowMs} />
      <div class="columns">
        <Stock live={live} />
        <Queue live={live} nowMs={nowMs} />
      </div>
      <Funnel live={live} nowMs={nowMs} />
      <Charts live={live} />
      <div class="columns three">
        <Notices state={live.state} controls={notices} />
        <Refusals live={live} />
        <Parts parts={live.summary.parts} />
      </div>
    </>
  )
}

interface Seen {
  readonly live: Live
  readonly nowMs: number
}

function Banner({ live: { state, environment, summary }, ageMs, nowMs }: Seen & { readonly ageMs: number }) {
  const isOld = ageMs > OLD_AFTER_MS
  return (
    <header class={`banner is-${summary.level}`} id="controls">
      <div>
        <p class="badges">
          <span class={`badge ${environment.name}`}>{environment.name}</span>
          {environment.test && <span class="badge test">test sale: no money moves</span>}
          <span class={`phase ${state.phase}`}>{state.phase.replaceAll('_', ' ')}</span>
          <Countdown state={state} nowMs={nowMs} />
          <span class={`age ${isOld ? 'bad' : 'quiet'}`}>
            {isOld ? `data is ${Math.round(ageMs / 1000)} s old` : `live, ${Math.floor(ageMs / 1000)} s old`}
          </span>
        </p>
        <h1>{state.name}</h1>
        <p class="summary" role="status">
          {summary.text}
        </p>
      </div>
      <PhaseControls state={state} />
      <Needs needs={summary.needs} />
    </header>
  )
}

function Countdown({ state: { phase, opens_at, ends_at }, nowMs }: Pick<Live, 'state'> & { nowMs: number }) {
  const untilOpen = (Date.parse(opens_at) - nowMs) / 1000
  const untilEnd = ends_at === null ? null : (Date.parse(ends_at) - nowMs) / 1000
  if (phase === 'ended') return null
  if (untilOpen > 0)
    return (
      <span>
        opens in <b>{clock('en', untilOpen)}</b>, {instant(opens_at)}
      </span>
    )
  return (
    <span>
      open for <b>{clock('en', -untilOpen)}</b>
      {untilEnd !== null && untilEnd > 0 && (
        <>
          , ends in <b>{clock('en', untilEnd)}</b>
        </>
      )}
    </span>
  )
}

/**
 * The funnel from the queue to the payment: since the creation of the sale, in the current calendar minute, and in
 * the one before.
 */
function Funnel({ live: { minutes, funnel }, nowMs }: Seen) {
  const [now, before] = [minuteAgo(0, minutes, nowMs), minuteAgo(1, minutes, nowMs)]
  const added = (name: string) => `+${count(now[name] ?? 0)} this minute, +${count(before[name] ?? 0)} before`
  const steps = [
    ['joined', funnel.joined, added('joined')],
    ['waiting', funnel.waiting, 'now'],
    ['called', funnel.called, added('called')],
    ['arrived', funnel.arrived, added('arrived'), whoCame(funnel)],
    ['reserved', funnel.reserved, added('reserved')],
    ['paid', funnel.paid, added('confirmed')],
  ] as const
  return (
    <section class="card" aria-label="Funnel">
      <h2>From joining to paying</h2>
      <ol class="funnel">
        {steps.map(([name, value, ...notes]) => (
          <li key={name}>
            <span>{name}</span>
            <b>{value === null ? '–' : count(value)}</b>
            {notes.map((note) => (
              <small key={note}>{note}</small>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Charts({ live: { minutes } }: { live: Live }) {
  if (minutes.length === 0) return null
  // The current minute is left out, because its incomplete figures would look like a drop.
  const full = fillGaps(minutes.length > 2 ? minutes.slice(0, -1) : minutes)
  const all = fillGaps(minutes)
  return (
    <div class="columns">
      <FlowChart minutes={full} />
      <WaitingChart minutes={all} />
      <RateChart minutes={all} />
      <WaitChart minutes={all} />
    </div>
  )
}
