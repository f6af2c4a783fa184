/**
 * Charts of a sale's minutes, drawn by uPlot. Each has a table of the latest values for operators who cannot see it.
 */
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { Minute } from '../../../shared/api/operators/report.ts'
import { figure } from './parts.tsx'

interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** The name of a custom property of the style sheet. */
  readonly colour: `--${string}`
  readonly dashed?: boolean
}

const HEIGHT = 200
/** A chart spans at least this time, so a sale that has just opened is at its right end. */
const SPAN_SECONDS = 10 * 60
const LATEST = 5

const clock = (seconds: number) =>
  new Date(seconds * 1000).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
/** A single minute needs a given span, because uPlot would show a whole day. */
function spanOf(times: ArrayLike<number>): [number, number] {
  const last = times[times.length - 1] ?? SPAN_SECONDS
  return [Math.min(times[0] ?? 0, last - SPAN_SECONDS), last]
}

const shownValue = (value: number | null | undefined) => (value === null || value === undefined ? '–' : figure(value))
/** The points without neighbours, which a line does not show. */
const alone = (values: ArrayLike<number | null | undefined>) =>
  Array.from(values).flatMap((value, i) => (value != null && values[i - 1] == null && values[i + 1] == null ? [i] : []))

interface ChartProps {
  readonly title: string
  /** The unit of the values. */
  readonly unit?: string
  readonly minutes: readonly Pick<Minute, 'minute'>[]
  readonly series: readonly Series[]
}

function Chart({ title, unit, minutes, series }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const data: uPlot.AlignedData = [
    minutes.map(({ minute }) => Date.parse(minute) / 1000),
    ...series.map(({ values }) => [...values]),
  ]

  useEffect(() => {
    const element = place.current
    if (!element) return
    // A canvas needs the computed colour, which depends on the light or dark look of the page.
    const colourOf = (name: string) => {
      element.style.color = `var(${name})`
      return getComputedStyle(element).color
    }
    const draw = () => {
      plot.current?.destroy()
      const axis = {
        stroke: colourOf('--quiet'),
        grid: { stroke: colourOf('--hair'), width: 1 },
        ticks: { show: false },
      }
      plot.current = new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          legend: { show: false },
          cursor: { y: false },
          scales: {
            x: { range: ({ data: [times] }) => spanOf(times) },
            y: { range: (_, __, max) => [0, Math.max(4, max * 1.05)] },
          },
          axes: [
            { ...axis, space: 56, size: 30, values: (_, at) => at.map(clock) },
            { ...axis, size: 48 },
          ],
          padding: [8, 24, 0, 0],
          series: [
            {},
            ...series.map(({ name, colour, dashed }) => ({
              label: name,
              stroke: colourOf(colour),
              width: 2,
              // Missing values show as a gap.
              spanGaps: false,
              points: { show: minutes.length < 3, filter: (self: uPlot, at: number) => alone(self.data[at] ?? []) },
              ...(dashed && { dash: [6, 4] }),
            })),
          ],
        },
        data,
        element,
      )
    }
    draw()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    const theme = matchMedia('(prefers-color-scheme: dark)')
    theme.addEventListener('change', draw)
    return () => {
      resized.disconnect()
      theme.removeEventListener('change', draw)
      plot.current?.destroy()
      plot.current = null
    }
  }, [series.map(({ name }) => name).join(), minutes.length < 3])

  useEffect(() => {
    plot.current?.setData(data)
  }, [minutes])

  return (
    <figure class="chart-figure sec">
      <figcaption>
        <h3>
          {title}
          {unit !== undefined && <small>{unit}</small>}
        </h3>
        <p class="legend">
          {series.map(({ name, colour, dashed, values }) => (
            <span key={name}>
              <i style={`border-color: var(${colour})`} class={dashed ? 'dashed' : ''} /> {name}{' '}
              <b>{shownValue(values.findLast((value) => value !== null))}</b>
            </span>
          ))}
        </p>
      </figcaption>
      <div ref={place} aria-hidden="true" />
      <div class="unseen">
        <table>
          <caption>{title}, the latest minutes</caption>
          <tbody>
            {minutes.slice(-LATEST).map(({ minute }, i, shown) => (
              <tr key={minute}>
                <th scope="row">{clock(Date.parse(minute) / 1000)}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>
                    {name} {shownValue(values[values.length - shown.length + i])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

const counts = (minutes: readonly Minute[], name: string) => minutes.map((one) => one.counts[name] ?? 0)
const gauge = (minutes: readonly Minute[], name: string) => minutes.map(({ gauges }) => gauges[name] ?? null)

interface MinutesProps {
  readonly minutes: readonly Minute[]
}

/** The flow of visitors from joining to paying. */
export const FlowChart = ({ title = 'Each minute', minutes }: MinutesProps & { readonly title?: string }) => (
  <Chart
    title={title}
    unit="people, orders"
    minutes={minutes}
    series={[
      { name: 'joined', values: counts(minutes, 'joined'), colour: '--c3' },
      { name: 'reserved', values: counts(minutes, 'reserved'), colour: '--c2' },
      { name: 'paid', values: counts(minutes, 'confirmed'), colour: '--c1' },
    ]}
  />
)

export const WaitingChart = ({ minutes }: MinutesProps) => (
  <Chart
    title="Waiting in line"
    unit="people"
    minutes={minutes}
    series={[{ name: 'waiting', values: gauge(minutes, 'waiting'), colour: '--c2' }]}
  />
)

export const RateChart = ({ minutes }: MinutesProps) => (
  <Chart
    title="Called a second"
    unit="people"
    minutes={minutes}
    series={[
      { name: 'called', values: gauge(minutes, 'called_per_second'), colour: '--c1' },
      { name: 'asked for', values: gauge(minutes, 'rate_target'), colour: '--c3', dashed: true },
    ]}
  />
)

export const StockChart = ({ minutes }: MinutesProps) => (
  <Chart
    title="Units"
    minutes={minutes}
    series={[
      { name: 'sold', values: gauge(minutes, 'sold'), colour: '--c1' },
      { name: 'held', values: gauge(minutes, 'held'), colour: '--c2' },
      { name: 'free', values: gauge(minutes, 'available'), colour: '--c3', dashed: true },
    ]}
  />
)

/** Shows for each minute the wait that was furthest off, or the latest one while it lasts. */
export const WaitChart = ({ minutes }: MinutesProps) => (
  <Chart
    title="Wait of the last in line"
    unit="seconds"
    minutes={minutes}
    series={[
      {
        name: 'as shown',
        values: minutes.map(({ gauges }) => gauges.wait_shown ?? gauges.wait_seconds ?? null),
        colour: '--c2',
      },
      { name: 'as it was', values: gauge(minutes, 'wait_real'), colour: '--c1', dashed: true },
    ]}
  />
)
