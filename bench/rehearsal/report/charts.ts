/** Draws charts as inline SVG, which the report's style sheet styles. */

import { n, short } from '../../lib/figures.ts'

/** Null is a gap in the chart, because nothing was measured there. */
export type Point = readonly [x: number, y: number | null]
type Known = readonly [x: number, y: number]

interface Series {
  readonly name: string
  /** One of the colours of the style sheet: a, b, c, d. */
  readonly color: 'a' | 'b' | 'c' | 'd'
  readonly points: readonly Point[]
  readonly dashed?: boolean
}

const WIDTH = 640
const HEIGHT = 274
/** The margin has space for the large labels on a phone. */
const MARGIN = { left: 84, right: 28, top: 34, bottom: 48 }
const INNER_WIDTH = WIDTH - MARGIN.left - MARGIN.right
const INNER_HEIGHT = HEIGHT - MARGIN.top - MARGIN.bottom
/** The maximum number of points of a series, which is no more than the pixels. */
const MAX_POINTS = 600

interface Names {
  readonly x: string
  readonly y: string
  /** The text of the ticks on the y axis. */
  readonly yText?: (value: number) => string
}

export function lineChart(label: string, names: Names, series: readonly Series[]): string {
  const all = series.flatMap((s) => s.points.filter(isKnown))
  if (all.length === 0) return nothing('Nothing to show.')
  const axes = axesOf(names, all)
  const { x, y } = scales(axes)
  const lines = series.flatMap(({ color, dashed, points }) => {
    const group = Math.ceil(points.length / MAX_POINTS)
    return segments(points).map((segment) => {
      const path = thinOut(segment, group).map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`)
      // The line has round ends, so a single point shows as a dot.
      const drawn = path.length === 1 ? [...path, ...path] : path
      return `<polyline class="line ${color}${dashed ? ' dashed' : ''}" points="${drawn.join(' ')}"/>`
    })
  })
  const text = names.yText ?? short
  const summary = series.flatMap(({ name, points }) => {
    const known = points.filter(isKnown).map((p) => p[1])
    const last = known.at(-1)
    return last === undefined ? [] : [`${name}: at most ${text(Math.max(...known))}, at last ${text(last)}`]
  })
  return figure(`${label}. ${summary.join('; ')}.`, `${grid(axes)}${opening(axes)}${lines.join('')}`, series)
}

const isKnown = (point: Point): point is Known => point[1] !== null

/** The drawn parts of a series: its points between two gaps. */
export function segments(points: readonly Point[]): Known[][] {
  const parts: Known[][] = [[]]
  for (const point of points) {
    if (isKnown(point)) parts.at(-1)?.push(point)
    else if (parts.at(-1)?.length) parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

export interface Dot {
  readonly x: number
  readonly y: number
  readonly kind: 'plain' | 'strong'
}

export function scatter(
  label: string,
  names: Names,
  dots: readonly Dot[],
  legend: { readonly plain: string; readonly strong: string },
): string {
  if (dots.length === 0) return nothing('Nobody was given a number.')
  const axes = axesOf(
    names,
    dots.map(({ x, y }) => [x, y]),
  )
  const { x, y } = scales(axes)
  // Buyers are drawn on top.
  const marks = [...dots]
    .sort((a, b) => Number(a.kind === 'strong') - Number(b.kind === 'strong'))
    .map(
      (d) =>
        `<circle class="${d.kind === 'strong' ? 'dot c' : 'dot a'}" cx="${x(d.x).toFixed(1)}" ` +
        `cy="${y(d.y).toFixed(1)}" r="${d.kind === 'strong' ? 2.2 : 1.3}"/>`,
    )
  const strong = dots.filter((d) => d.kind === 'strong').length
  const summary = `${label}. ${n(dots.length)} visitors, ${n(strong)} of them ${legend.strong}.`
  return figure(summary, `${grid(axes)}${opening(axes)}${marks.join('')}`, [
    { name: legend.plain, color: 'a' },
    { name: legend.strong, color: 'c' },
  ])
}

/** The number of colours of the seats from the first sold to the last, mixed from the first and the last one. */
const SHADES = 8
const shade = (step: number) => `color-mix(in oklab, var(--b) ${Math.round((100 * step) / (SHADES - 1))}%, var(--a))`

/**
 * Draws a hall from above with the stage at the bottom. The colour of a seat shows when it was bought, with one path
 * for each shade.
 */
export function hallDrawing(seats: readonly (readonly [x: number, y: number, share: number | null])[]): string {
  if (seats.length === 0) return nothing('The hall has no seats.')
  const [xs, ys] = [seats.map(([x]) => x), seats.map(([, y]) => y)]
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 0)
  const [halfWidth, height] = [most(xs.map(Math.abs)) + 2, most(ys) + 2]
  const step = (share: number | null) => (share === null ? null : Math.min(SHADES - 1, Math.floor(share * SHADES)))
  const paths = [...Map.groupBy(seats, ([, , share]) => step(share))].map(([of, group]) => {
    const dots = group.map(([x, y]) => `M${(x + halfWidth).toFixed(1)} ${(height - y).toFixed(1)}h0`).join('')
    return `<path style="stroke:${of === null ? 'var(--rule)' : shade(of)}" d="${dots}"/>`
  })
  const sold = seats.filter(([, , share]) => share !== null).length
  const label = `The hall: ${n(sold)} of ${n(seats.length)} seats sold.`
  const legend = Array.from({ length: SHADES }, (_, of) => `<i style="background:${shade(of)}"></i>`).join('')
  return (
    `<figure><svg viewBox="0 0 ${(2 * halfWidth).toFixed(1)} ${height.toFixed(1)}" role="img" ` +
    `aria-label="${escapeHtml(label)}"><g class="seats">${paths.join('')}</g></svg><figcaption><span>sold first ` +
    `${legend} sold last</span><span><i style="background:var(--rule)"></i>not sold</span></figcaption></figure>`
  )
}

/** A table of counts with bars. */
export function bars(
  caption: string,
  rows: readonly { readonly name: string; readonly value: number; readonly note: string }[],
): string {
  const most = Math.max(1e-9, ...rows.map((r) => r.value))
  const lines = rows.map(
    (r) =>
      `<tr><th scope="row">${escapeHtml(r.name)}</th><td class="track" aria-hidden="true"><i ` +
      `style="width:${((r.value / most) * 100).toFixed(2)}%"></i></td><td>${escapeHtml(r.note)}</td></tr>`,
  )
  return `<table class="bars"><caption>${escapeHtml(caption)}</caption><tbody>${lines.join('')}</tbody></table>`
}

export function table(caption: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = head.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`).join('')
  const lines = rows.map(
    ([name = '', ...cells]) =>
      `<tr><th scope="row">${escapeHtml(name)}</th>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`,
  )
  return `<div class="scroll"><table><caption>${escapeHtml(caption)}</caption><thead><tr>${columns}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`
}

// -- Pieces ---------------------------------------------------------------------------------------------------------

type Axes = ReturnType<typeof axesOf>

function axesOf(names: Names, points: readonly Known[]) {
  const xs = points.map((p) => p[0])
  const y1 = Math.max(1e-9, ...points.map((p) => p[1])) * 1.05
  return { names, x0: Math.min(...xs), x1: Math.max(...xs), y1 }
}

function scales({ x0, x1, y1 }: Axes) {
  const width = x1 - x0 || 1
  return {
    x: (value: number) => MARGIN.left + ((value - x0) / width) * INNER_WIDTH,
    y: (value: number) => MARGIN.top + (1 - value / y1) * INNER_HEIGHT,
  }
}

function grid(axes: Axes): string {
  const { x, y } = scales(axes)
  const text = axes.names.yText ?? short
  const horizontal = ticksOf(0, axes.y1, 4).map(
    (value) =>
      `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(value).toFixed(1)}" ` +
      `y2="${y(value).toFixed(1)}"/><text x="${MARGIN.left - 8}" y="${(y(value) + 4).toFixed(1)}" ` +
      `text-anchor="end">${text(value)}</text>`,
  )
  const vertical = ticksOf(axes.x0, axes.x1, 5).map(
    (value) =>
      `<text x="${x(value).toFixed(1)}" y="${HEIGHT - MARGIN.bottom + 20}" text-anchor="middle">${short(value)}</text>`,
  )
  const xName = `<text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 5}" text-anchor="end">${escapeHtml(axes.names.x)}</text>`
  const yName = `<text x="0" y="18">${escapeHtml(axes.names.y)}</text>`
  return horizontal.join('') + vertical.join('') + xName + yName
}

/** Marks the opening if a part of the x axis is before it. */
function opening(axes: Axes): string {
  if (!(axes.x0 < 0 && axes.x1 > 0)) return ''
  const at = scales(axes).x(0).toFixed(1)
  return `<line class="opening" x1="${at}" x2="${at}" y1="${MARGIN.top}" y2="${HEIGHT - MARGIN.bottom}"/>`
}

function figure(label: string, inside: string, series: readonly Pick<Series, 'name' | 'color' | 'dashed'>[]): string {
  const legend = series
    .map((s) => `<span><i class="${s.color}${s.dashed ? ' dashed' : ''}"></i>${escapeHtml(s.name)}</span>`)
    .join('')
  return (
    `<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" ` +
    `aria-label="${escapeHtml(label)}">${inside}</svg><figcaption>${legend}</figcaption></figure>`
  )
}

const nothing = (why: string) => `<p class="quiet">${escapeHtml(why)}</p>`

/** Returns round figures that divide a range into about this many parts. */
function ticksOf(from: number, to: number, parts: number): number[] {
  const range = to - from
  if (!(range > 0)) return [from]
  const raw = range / parts
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = ([1, 2, 2.5, 5, 10].find((m) => m * power >= raw) ?? 10) * power
  const ticks: number[] = []
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-9 && ticks.length < 20; at += step)
    ticks.push(Math.abs(at) < step * 1e-9 ? 0 : at)
  return ticks
}

/** Keeps the highest value of each group. */
function thinOut(points: readonly Known[], group: number): readonly Known[] {
  if (group <= 1) return points
  const kept: Known[] = []
  for (let at = 0; at < points.length; at += group)
    kept.push(points.slice(at, at + group).reduce((high, p) => (p[1] > high[1] ? p : high)))
  return kept
}

export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
