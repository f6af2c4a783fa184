/**
 * A chart by time, of panes that share the time, the cursor and the zoom. The pointer moves the cursor and drags a part
 * to look into; the arrow keys move the cursor, + and − zoom, and Escape shows all of the chosen span again.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { figure, minuteOf, time } from '../format.ts'
import {
  areaPath,
  between,
  gridPath,
  linePath,
  meansOf,
  moved,
  runsOf,
  scaleOf,
  timeTicks,
  type Values,
  VIEW_BOX,
  type Window,
  zoomed,
} from './chart-paths.ts'
import { Segmented } from './controls.tsx'
import { Icon, type IconName } from './icon.tsx'

export interface Line {
  readonly name: string
  readonly values: Values
  readonly colour: '--c1' | '--c2' | '--c3' | '--c4'
  readonly kind?: 'area' | 'step'
  readonly unit?: string
}

export interface Pane {
  /** The first pane has none, because the chart's heading names it. */
  readonly title?: string
  readonly lines: readonly Line[]
}

export interface Mark {
  readonly atMs: number
  /** The end of what lasts, such as a pause. */
  readonly untilMs?: number
  readonly text: string
  readonly icon: IconName
}

interface TimeChartProps {
  readonly title: string
  /** The time of each value, in equal steps. */
  readonly times: readonly number[]
  readonly panes: readonly Pane[]
  readonly marks: readonly Mark[]
  /** Spans to choose from, in minutes; null shows all that is known. */
  readonly spans: readonly (readonly [minutes: number | null, text: string])[]
  /** The span that is shown at first. */
  readonly initial: number | null
  readonly aside?: ComponentChildren
  onSpan?(minutes: number | null): void
}

const HEIGHTS = ['14rem', '3.5rem'] as const
const GRID_STEPS = [4, 1.9] as const
const PAGE = 30

const clockOf = (ms: number, withSeconds: boolean) => (withSeconds ? time : minuteOf)(ms)
const percent = (share: number) => `${Math.round(share * 10_000) / 100}%`

export function TimeChart({ title, times, panes, marks, spans, initial, aside, onSpan }: TimeChartProps) {
  const span = useSignal<number | null>(initial)
  const range = useSignal<Window | null>(null)
  const cursor = useSignal<number | null>(null)
  const drag = useSignal<readonly [from: number, to: number] | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const [firstMs = 0, lastMs = 0] = [times[0], times.at(-1)]
  const bounds = { fromMs: firstMs, toMs: lastMs }
  // The window follows the time until a part is dragged.
  const window =
    range.value ??
    (span.value === null ? bounds : { fromMs: Math.max(firstMs, lastMs - span.value * 60_000), toMs: lastMs })
  const start = times.findIndex((ms) => ms >= window.fromMs)
  const stop = times.findLastIndex((ms) => ms <= window.toMs) + 1
  const shown = times.slice(Math.max(0, start), stop)
  const cut = (values: Values) => values.slice(Math.max(0, start), stop)
  const at = cursor.value === null ? shown.length - 1 : Math.min(cursor.value, shown.length - 1)
  const shareOf = (ms: number) => (ms - window.fromMs) / Math.max(1, window.toMs - window.fromMs)
  const values = panes.flatMap(({ lines }) =>
    lines.map(({ name, values, unit = '' }) => [name, inWords(cut(values)[at], unit)] as const),
  )
  const indexAt = ({ clientX }: PointerEvent) => {
    const box = place.current?.querySelector('.pane')?.getBoundingClientRect()
    return box ? between((clientX - box.left) / box.width, shown.length) : 0
  }
  const choose = (minutes: number | null) => {
    span.value = minutes
    range.value = null
    onSpan?.(minutes)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: PAGE, PageDown: -PAGE, Home: -Infinity, End: Infinity }[
      event.key
    ]
    const factor = { '+': 0.5, '=': 0.5, '-': 2 }[event.key]
    const aroundMs = shown[at] ?? window.toMs
    if (by !== undefined) cursor.value = Math.max(0, Math.min(shown.length - 1, at + by))
    else if (factor !== undefined) {
      range.value = zoomed(window, factor, aroundMs, bounds)
      cursor.value = null
    } else if (event.key === 'Escape' && range.value !== null) range.value = null
    else return
    event.preventDefault()
  }
  const endDrag = () => {
    const [from = 0, to = 0] = drag.value?.toSorted((a, b) => a - b) ?? [0, 0]
    drag.value = null
    const [fromMs, toMs] = [shown[from], shown[to]]
    if (to - from < 3 || fromMs === undefined || toMs === undefined) return
    range.value = zoomed({ fromMs, toMs }, 1, fromMs, bounds)
    cursor.value = null
  }
  const gaps = runsOf(allOf(panes[0]?.lines.map(({ values }) => cut(values)) ?? [], shown.length), true)
  const bands = [
    ...marks.flatMap(({ atMs, untilMs }) =>
      untilMs === undefined ? [] : [[shareOf(atMs), shareOf(untilMs), ''] as const],
    ),
    ...gaps.map(([a, b]) => [a / shown.length, (b + 1) / shown.length, 'not-seen'] as const),
  ]
  const inWindow = marks.filter(({ atMs }) => atMs >= window.fromMs && atMs <= window.toMs)
  return (
    <section class="sec" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <p class="key">
          {panes[0]?.lines.map(({ name, colour, kind }) => (
            <span key={name} class={kind === 'step' ? 'wide' : undefined}>
              <i class={kind === 'step' ? 'line dash' : 'line'} style={`--c: var(${colour})`} />
              {name.toLowerCase()} <b>{values.find(([one]) => one === name)?.[1]}</b>
            </span>
          ))}
        </p>
        <div class="row end">
          {aside}
          {range.value !== null && (
            <button type="button" class="btn bare" onClick={() => (range.value = null)}>
              Show it all
            </button>
          )}
          <Segmented
            label="Time shown"
            value={String(span.value)}
            options={spans.map(([minutes, text]) => [String(minutes), text] as const)}
            onChoose={(chosen) => choose(chosen === 'null' ? null : Number(chosen))}
          />
        </div>
      </header>
      <div
        ref={place}
        class="chart"
        role="slider"
        tabIndex={0}
        aria-label={`${title}: arrow keys move the cursor, + and − zoom`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, shown.length - 1)}
        aria-valuenow={Math.max(0, at)}
        aria-valuetext={`${clockOf(shown[at] ?? 0, true)}: ${values.map((one) => one.join(' ')).join(', ')}`}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          place.current?.setPointerCapture(event.pointerId)
          drag.value = [indexAt(event), indexAt(event)]
        }}
        onPointerMove={(event) => {
          cursor.value = indexAt(event)
          if (drag.value) drag.value = [drag.value[0], indexAt(event)]
        }}
        onPointerUp={endDrag}
        onPointerLeave={() => {
          if (!drag.value) cursor.value = null
        }}
      >
        {panes.map((pane, i) => (
          <PaneOf
            key={pane.title ?? i}
            pane={pane}
            cut={cut}
            steps={GRID_STEPS[Math.min(i, 1)] ?? 1}
            height={HEIGHTS[Math.min(i, 1)] ?? ''}
          >
            {bands.map(([from, to, kind], k) => (
              <i key={k} class={`span ${kind}`} style={bandOf(from, to)} />
            ))}
            {drag.value && (
              <i class="span chosen" style={bandOf(drag.value[0] / shown.length, drag.value[1] / shown.length)} />
            )}
            {i === 0 &&
              inWindow.map(({ atMs, text, icon }, k) => (
                <i key={k} class={`over ${shareOf(atMs) > 0.8 ? 'back' : ''}`} style={`--x: ${percent(shareOf(atMs))}`}>
                  <span>
                    <Icon name={icon} />
                    <b>{text}</b>
                  </span>
                </i>
              ))}
            <i class="cursor" style={`--x: ${percent(at / Math.max(1, shown.length - 1))}`} />
            {i === 0 && cursor.value !== null && (
              <div class={at < shown.length * 0.7 ? 'tip' : 'tip after'} aria-hidden="true">
                <p>{clockOf(shown[at] ?? 0, true)}</p>
                <dl>
                  {values.map(([name, value]) => (
                    <div key={name}>
                      <dt>{name}</dt>
                      <dd>{value}</dd>
                    </div>
                  ))}
                </dl>
              </div>
            )}
          </PaneOf>
        ))}
        <div class="xx" aria-hidden="true">
          {timeTicks(window.fromMs, window.toMs, 6).map((ms) => (
            <span key={ms} style={`--x: ${percent(shareOf(ms))}`}>
              {clockOf(ms, window.toMs - window.fromMs < 120_000)}
            </span>
          ))}
        </div>
        <Brush
          values={panes[0]?.lines[0]?.values ?? []}
          window={window}
          bounds={bounds}
          onMove={(byMs) => (range.value = moved(window, byMs, bounds))}
        />
      </div>
    </section>
  )
}

const inWords = (value: number | null | undefined, unit: string) =>
  value === null || value === undefined ? 'not seen' : `${figure(value)}${unit}`
const bandOf = (from: number, to: number) => {
  const [a, b] = [Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to))]
  return b > a ? `--x: ${percent(a)}; --wide: ${percent(b - a)}` : 'display: none'
}

/** Null where no line has a value. */
const allOf = (lines: readonly Values[], many: number): Values =>
  Array.from({ length: many }, (_, i) => (lines.every((values) => (values[i] ?? null) === null) ? null : 0))

interface PaneProps {
  readonly pane: Pane
  readonly steps: number
  readonly height: string
  readonly children: ComponentChildren
  cut(values: Values): Values
}

function PaneOf({ pane: { title, lines }, steps, height, cut, children }: PaneProps) {
  const drawn = lines.map((line) => ({
    ...line,
    values: line.kind === 'step' ? cut(line.values) : meansOf(cut(line.values)),
  }))
  const scale = scaleOf(
    drawn.flatMap(({ values }) => [...values]),
    steps,
  )
  const unit = lines[0]?.unit ?? ''
  return (
    <>
      <div class="yy" aria-hidden="true">
        {scale.ticks.map((tick, i) => (
          <span key={tick} style={`bottom: ${percent(tick / scale.top)}`}>
            {figure(tick)}
            {i === scale.ticks.length - 1 && unit}
          </span>
        ))}
      </div>
      <div class="pane" style={`--h: ${height}`}>
        {title !== undefined && <em>{title}</em>}
        <svg class="plot" viewBox={VIEW_BOX} preserveAspectRatio="none" aria-hidden="true">
          <path class="grid" d={gridPath(scale)} />
          {drawn.map(({ name, colour, kind, values }, i) => (
            <g key={name} style={`--c: var(${colour}); --w: ${i === 0 ? 2.25 : 1.5}`}>
              {kind === 'area' && <path class="area" d={areaPath(values, scale.top)} />}
              <path class={kind === 'step' ? 'dash' : undefined} d={linePath(values, scale.top, kind === 'step')} />
            </g>
          ))}
        </svg>
        {children}
      </div>
    </>
  )
}

interface BrushProps {
  readonly values: Values
  readonly window: Window
  readonly bounds: Window
  onMove(byMs: number): void
}

/** All that is known, with the part that is shown, which the pointer moves. */
function Brush({ values, window, bounds, onMove }: BrushProps) {
  const means = useMemo(() => meansOf(values), [values])
  const { top } = scaleOf(means, 1)
  const width = Math.max(1, bounds.toMs - bounds.fromMs)
  const share = (ms: number) => (ms - bounds.fromMs) / width
  return (
    <>
      <div class="yy" aria-hidden="true">
        <span style="bottom: 40%">{Math.round(width / 60_000)} min</span>
      </div>
      <div
        class="brush"
        title="Drag to move"
        onPointerDown={(event) => {
          event.stopPropagation()
          ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
        }}
        onPointerMove={(event) => {
          event.stopPropagation()
          if (event.buttons !== 1) return
          onMove((event.movementX / (event.currentTarget as HTMLElement).clientWidth) * width)
        }}
        onPointerUp={(event) => event.stopPropagation()}
      >
        <svg class="plot" viewBox={VIEW_BOX} preserveAspectRatio="none" aria-hidden="true">
          <path class="area" style="--c: var(--c3)" d={areaPath(means, top)} />
        </svg>
        <i style={bandOf(share(window.fromMs), share(window.toMs))} />
      </div>
    </>
  )
}
