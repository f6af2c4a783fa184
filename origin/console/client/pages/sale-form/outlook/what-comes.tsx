/** What comes of the settings: how long the sale takes, who is told when, and what was rehearsed here. */

import { useQuery } from '@tanstack/preact-query'
import type { Minute } from '../../../../../../shared/api/operators/report.ts'
import type { WhatComes } from '../../../../../../shared/model/what-if.ts'
import { admin, read } from '../../../api.ts'
import { count, instant, minuteOf } from '../../../format.ts'
import { Copy } from '../../../parts.tsx'
import { shop } from '../../../session.ts'
import { areaPath, gridPath, linePath, scaleOf, timeTicks, type Values, VIEW_BOX } from '../../../sheet/chart-paths.ts'
import { Labelled } from '../../../sheet/controls.tsx'
import { type Body, valueAt } from '../draft.ts'
import { type Assumed, comesOf, type Running, sentenceOf } from './outlook.ts'
import { unitsFor } from './warnings.ts'

interface WhatComesProps {
  readonly body: Body
  /** The sale as it is saved; null for a new one. */
  readonly start: Body | null
  readonly running: Running | null
  readonly minutes: readonly Minute[]
  readonly assumed: Assumed
  onAssume(assumed: Partial<Assumed>): void
}

export function WhatComesSection({ body, start, running, minutes, assumed, onAssume }: WhatComesProps) {
  const added = start ? unitsFor(body) - unitsFor(start) : 0
  const now = comesOf(body, assumed, running, added)
  const before = start && comesOf(start, assumed, running)
  const fromMs = running?.nowMs ?? Date.parse(String(valueAt(body, 'opens_at')))
  const [rate, rateBefore] = [body, start].map((one) => one && valueAt(one, 'admission.rate_per_second'))
  const isOther = before !== null && JSON.stringify(before) !== JSON.stringify(now)
  const sentence = now && !Number.isNaN(fromMs) ? sentenceOf(now, isOther ? before : null, clockFrom(fromMs)) : null
  return (
    <section class="sec" aria-label="What comes of it">
      <header>
        <h2>What comes of it</h2>
        {isOther && (
          <p class="key end">
            <span>
              <i class="line dash" style="--c: var(--c1)" />
              at {String(rate)}
            </span>
            <span>
              <i class="line dash" style="--c: var(--c3)" />
              {rate === rateBefore ? 'as saved' : `at ${rateBefore}`}
            </span>
          </p>
        )}
      </header>
      {sentence && now ? (
        <>
          <p role="status">
            <b>{sentence[0]}</b> {sentence[1]}
          </p>
          <Curves
            now={now}
            before={isOther ? before : null}
            fromMs={fromMs}
            running={running}
            minutes={minutes}
            opensMs={Date.parse(String(valueAt(body, 'opens_at')))}
          />
          <p class="small quiet">
            {count(now.sold)} of {count(now.sold + now.left)} units sold, {count(now.without)} people leave without one.
          </p>
        </>
      ) : (
        <p class="quiet">With units, a rate and an opening, this says how long the sale takes.</p>
      )}
      <Assumptions assumed={assumed} isRunning={running !== null} onAssume={onAssume} />
      <Rehearsed body={body} assumed={assumed} />
    </section>
  )
}

const clockFrom = (fromMs: number) => (seconds: number) => {
  const ms = fromMs + seconds * 1000
  const isOtherDay = new Date(ms).toDateString() !== new Date(fromMs).toDateString()
  return (isOtherDay ? instant : minuteOf)(ms)
}

export { clockFrom }

const POINTS = 120

interface CurvesProps {
  readonly now: WhatComes
  readonly before: WhatComes | null
  readonly fromMs: number
  readonly opensMs: number
  readonly running: Running | null
  readonly minutes: readonly Minute[]
}

/** The units sold until now as a line, and those to come as dashes, with and without the changes. */
function Curves({ now, before, fromMs, opensMs, running, minutes }: CurvesProps) {
  const lengths = [now, before].map((one) => (one ? one.curve.length * one.secondsPerPoint : 0))
  const toMs = fromMs + 1000 * Math.max(60, ...lengths) * 1.05
  const beginMs = running ? Math.min(opensMs, fromMs) : fromMs
  const times = Array.from({ length: POINTS }, (_, i) => beginMs + ((toMs - beginMs) * i) / (POINTS - 1))
  const soldBefore = running?.sold ?? 0
  const ahead = (one: WhatComes): Values =>
    times.map((ms) => {
      const seconds = (ms - fromMs) / 1000
      if (seconds < 0) return null
      return soldBefore + (one.curve[Math.min(one.curve.length - 1, Math.floor(seconds / one.secondsPerPoint))] ?? 0)
    })
  const past: Values = times.map((ms) => (running && ms <= fromMs ? soldAt(minutes, ms, running) : null))
  const all = soldBefore + now.sold + now.left
  const scale = scaleOf([all], 2)
  const ticks = timeTicks(beginMs, toMs, 4)
  const at = (ms: number) => `--x: ${(100 * (ms - beginMs)) / (toMs - beginMs)}%`
  const last = soldBefore + now.sold
  const described = `Units sold: ${count(soldBefore)} of ${count(all)} so far, ${count(last)} in the end`
  return (
    <div class="chart outlook" role="img" aria-label={described}>
      <div class="yy" aria-hidden="true">
        {scale.ticks.map((tick) => (
          <span key={tick} style={`bottom: ${(100 * tick) / scale.top}%`}>
            {count(tick)}
          </span>
        ))}
      </div>
      <div class="pane" style="--h: 5rem">
        <svg class="plot" viewBox={VIEW_BOX} preserveAspectRatio="none" aria-hidden="true">
          <path class="grid" d={gridPath(scale)} />
          <path class="area" d={areaPath(past, scale.top)} />
          <path d={linePath(past, scale.top)} />
          {before && <path class="dash" style="--c: var(--c3); --w: 1.5" d={linePath(ahead(before), scale.top)} />}
          <path class="dash" d={linePath(ahead(now), scale.top)} />
        </svg>
        {running && <i class="cursor" style={`--x: ${(100 * (fromMs - beginMs)) / (toMs - beginMs)}%`} />}
      </div>
      <div class="xx" aria-hidden="true">
        {ticks.map((ms) => (
          <span key={ms} style={at(ms)}>
            {minuteOf(ms)}
          </span>
        ))}
      </div>
    </div>
  )
}

/** The units sold by a time, from the minutes of the sale. */
function soldAt(minutes: readonly Minute[], ms: number, { sold, nowMs }: Running): number {
  if (ms >= nowMs - 60_000) return sold
  return minutes.findLast(({ minute }) => Date.parse(minute) <= ms)?.gauges.sold ?? 0
}

interface AssumptionsProps {
  readonly assumed: Assumed
  readonly isRunning: boolean
  onAssume(assumed: Partial<Assumed>): void
}

/** What the answer rests on, which an operator may change. */
function Assumptions({ assumed, isRunning, onAssume }: AssumptionsProps) {
  const field = (name: keyof Assumed, label: string, percent: boolean) => (
    <Labelled
      label={label}
      unit={percent ? '%' : undefined}
      input={{
        inputMode: 'numeric',
        autocomplete: 'off',
        value: percent ? Math.round(100 * assumed[name]) : assumed[name],
        onInput: ({ currentTarget: { value } }) => {
          const number = Number(value.replaceAll(',', ''))
          if (number > 0) onAssume({ [name]: percent ? Math.min(1, number / 100) : number })
        },
      }}
    />
  )
  return (
    <fieldset class="trio assumed" aria-label="What is assumed">
      {field('visitors', isRunning ? 'In line' : 'Visitors', false)}
      {field('comes', 'Come', true)}
      {field('pays', 'Pay', true)}
    </fieldset>
  )
}

/** What this installation has carried in rehearsals, and the command that plays this sale. */
function Rehearsed({ body, assumed }: { readonly body: Body; readonly assumed: Assumed }) {
  const { data, error } = useQuery({
    queryKey: ['rehearsals'],
    queryFn: () => read(admin.rehearsals.$get()),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const most = data?.rehearsals.reduce(
    (best, one) => (one.visitors > best.visitors ? one : best),
    data.rehearsals[0] ?? NONE,
  )
  const fastest = data?.rehearsals.reduce(
    (best, one) => (one.arrived_per_second > best.arrived_per_second ? one : best),
    data.rehearsals[0] ?? NONE,
  )
  const rate = Number(valueAt(body, 'admission.rate_per_second'))
  const command = [
    'npm run rehearse --',
    `--edge ${shop.value ?? 'EDGE'} --origin ${location.origin}`,
    `--visitors ${Math.round(assumed.visitors)} --stock ${unitsFor(body)} --rate ${rate}`,
    `--hold ${valueAt(body, 'hold_seconds')}`,
  ].join(' ')
  return (
    <div class="small quiet stack close">
      <p>
        {error
          ? 'What was rehearsed here cannot be read now.'
          : most && fastest && most !== NONE
            ? `Rehearsed here for ${count(most.visitors)} visitors on ${dayOf(most.at)}, up to ` +
              `${count(Math.round(fastest.arrived_per_second))} a second on ${dayOf(fastest.at)}.` +
              (fastest.arrived_per_second < rate * 0.95 || most.visitors < assumed.visitors
                ? ' This sale is more than that.'
                : '')
            : data && 'Nothing was rehearsed here yet.'}
      </p>
      <details>
        <summary>Rehearse this</summary>
        <pre>{command}</pre>
        <Copy name="the command" text={command} />
      </details>
    </div>
  )
}

const NONE = { sale: '', at: '', visitors: 0, arrived_per_second: 0, sold: 0 }
const dayOf = (iso: string) => new Date(iso).toLocaleDateString('en', { day: 'numeric', month: 'long' })
