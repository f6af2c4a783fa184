/** The geometry of a chart by time: means, scales, lines with gaps, and what the cursor points at. Pure. */

export type Values = readonly (number | null)[]

/** A line shows the mean of so many seconds; the cursor shows the second's own value. */
const MEAN_OVER = 5

/** The mean of each value and those before it. A gap stays a gap, and no mean reaches across it. */
export function meansOf(values: Values): (number | null)[] {
  let run: number[] = []
  return values.map((value) => {
    if (value === null) {
      run = []
      return null
    }
    run = [...run, value].slice(-MEAN_OVER)
    return run.reduce((sum, one) => sum + one, 0) / run.length
  })
}

export interface Scale {
  /** The value at the upper edge. */
  readonly top: number
  readonly ticks: readonly number[]
}

/** A scale from 0 that holds the values, with at most `most` round steps. */
export function scaleOf(values: Values, most: number): Scale {
  const highest = Math.max(0, ...values.map((value) => value ?? 0))
  if (highest === 0) return { top: 1, ticks: [0] }
  const rough = highest / most
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => highest / one <= most) ?? highest
  const top = Math.max(step, highest * 1.08)
  return { top, ticks: Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step) }
}

/** The runs of neighbours that are (or, with `isGap`, are not) known, as first and last index. */
export function runsOf(values: Values, isGap = false): (readonly [first: number, last: number])[] {
  const runs: (readonly [number, number])[] = []
  let first = -1
  for (let i = 0; i <= values.length; i++) {
    const isIn = i < values.length && (values[i] === null) === isGap
    if (isIn && first < 0) first = i
    if (!isIn && first >= 0) {
      runs.push([first, i - 1])
      first = -1
    }
  }
  return runs
}

const WIDTH = 1_000
const HEIGHT = 100
/** The part of its place that a bar takes. */
const BAR = 0.8
export const VIEW_BOX = `0 0 ${WIDTH} ${HEIGHT}`

const round = (value: number) => Math.round(value * 10) / 10
const xOf = (at: number, many: number) => round((WIDTH * at) / Math.max(1, many - 1))
const yOf = (value: number, top: number) => round(HEIGHT - (HEIGHT * value) / top)

/** The line through the values: straight, or in steps for what is set. A single value is a short line. */
export function linePath(values: Values, top: number, isStep = false): string {
  const point = (i: number) => `${xOf(i, values.length)} ${yOf(values[i] ?? 0, top)}`
  return runsOf(values)
    .map(([first, last]) => {
      if (first === last) return `M${point(first)}h1`
      const rest = Array.from({ length: last - first }, (_, i) => first + 1 + i)
      const steps = (i: number) => `H${xOf(i, values.length)}V${yOf(values[i] ?? 0, top)}`
      return `M${point(first)}${rest.map((i) => (isStep ? steps(i) : `L${point(i)}`)).join('')}`
    })
    .join('')
}

/** The area below the line. */
export function areaPath(values: Values, top: number): string {
  return runsOf(values)
    .map(([first, last]) => {
      const points = Array.from({ length: last - first + 1 }, (_, i) => first + i)
      const line = points.map((i) => `L${xOf(i, values.length)} ${yOf(values[i] ?? 0, top)}`).join('')
      return `M${xOf(first, values.length)} ${HEIGHT}${line}V${HEIGHT}z`
    })
    .join('')
}

/** Bars from these bottoms, each nearly as wide as its part of the chart. A value of 0 has no bar. */
export function barsPath(values: readonly number[], top: number, bottoms: readonly number[] = []): string {
  const width = WIDTH / Math.max(1, values.length)
  const bar = (value: number, i: number) => {
    const [from, to] = [bottoms[i] ?? 0, (bottoms[i] ?? 0) + value]
    return `M${round(i * width)} ${yOf(from, top)}V${yOf(to, top)}h${round(width * BAR)}V${yOf(from, top)}z`
  }
  return values.map((value, i) => (value === 0 ? '' : bar(value, i))).join('')
}

export const gridPath = ({ ticks, top }: Scale) => ticks.map((tick) => `M0 ${yOf(tick, top)}H${WIDTH}`).join('')

/** Round times between two, at most `most` of them, in ms. */
export function timeTicks(fromMs: number, toMs: number, most: number): number[] {
  const steps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600].map((seconds) => 1_000 * seconds)
  const step = steps.find((one) => (toMs - fromMs) / one <= most) ?? 7_200_000
  const first = Math.ceil(fromMs / step) * step
  return Array.from({ length: Math.max(0, Math.floor((toMs - first) / step) + 1) }, (_, i) => first + i * step)
}

/** The part of a window that a share of it points at, limited to its bounds. */
export const between = (share: number, many: number) => Math.max(0, Math.min(many - 1, Math.round(share * (many - 1))))

export interface Window {
  readonly fromMs: number
  readonly toMs: number
}

/** A window must show at least so much, or its lines say nothing. */
const LEAST_MS = 20_000

/** Zooms by a factor around a time, within bounds. */
export function zoomed({ fromMs, toMs }: Window, factor: number, aroundMs: number, bounds: Window): Window {
  const width = Math.min(bounds.toMs - bounds.fromMs, Math.max(LEAST_MS, (toMs - fromMs) * factor))
  const share = (aroundMs - fromMs) / Math.max(1, toMs - fromMs)
  return moved({ fromMs: aroundMs - share * width, toMs: aroundMs + (1 - share) * width }, 0, bounds)
}

/** Moves a window within bounds. */
export function moved({ fromMs, toMs }: Window, byMs: number, bounds: Window): Window {
  const width = toMs - fromMs
  const from = Math.max(bounds.fromMs, Math.min(bounds.toMs - width, fromMs + byMs))
  return { fromMs: from, toMs: from + width }
}
