/** The report of a rehearsal: one HTML file without a script, readable in light and dark, on paper and on a phone. */
import type { Counts } from './crowd.ts'
import type { Percentiles } from './histogram.ts'
import type { Sample } from './live.ts'
import type { Check, Story } from './verdict.ts'

export interface Result {
  readonly sale: string
  readonly options: { visitors: number; stock: number; rate: number; arrivals: string; seed: number }
  readonly good: boolean
  readonly checks: readonly Check[]
  readonly latencies: Record<string, Percentiles>
  readonly counts: Counts
  readonly samples: readonly Sample[]
  readonly complaints: readonly (readonly [string, number])[]
}

const WIDTH = 640
const HEIGHT = 220
const MARGIN = { left: 56, right: 12, top: 12, bottom: 28 }
/** Dots in the fairness chart; more would only be one blot. */
const MAX_DOTS = 3_000

type Point = readonly [x: number, y: number]
interface Series {
  readonly name: string
  readonly color: string
  readonly points: readonly Point[]
}

export function reportHtml(r: Result, stories: readonly Story[]): string {
  const { samples } = r
  const over = (of: (s: Sample) => number): Point[] => samples.map((s) => [s.second, of(s)])
  const admittedPerSecond = samples.slice(2).map((s, i): Point => {
    const before = samples[i] ?? s
    return [s.second, (s.admitted - before.admitted) / Math.max(0.1, s.second - before.second)]
  })
  const last = samples.at(-1)?.second ?? 1
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Rehearsal ${escaped(r.sale)}</title>
<style>${STYLE}</style>
<main>
<p class="verdict ${r.good ? 'good' : 'bad'}">${r.good ? 'Good' : 'Not good'}</p>
<h1>${r.options.visitors.toLocaleString('en')} visitors, ${r.options.stock.toLocaleString('en')} units, ${r.options.rate.toLocaleString('en')} admissions per second</h1>
<p class="quiet">Arrivals: ${escaped(r.options.arrivals)}. Seed ${r.options.seed}. Sale ${escaped(r.sale)}.</p>
<h2>Verdict</h2>
<ul class="checks">${r.checks.map((c) => `<li class="${c.holds ? 'good' : 'bad'}"><b>${escaped(c.what)}</b><br><span>${escaped(c.detail)}</span></li>`).join('')}</ul>
<h2>The queue over time</h2>
${chart('People, by seconds since the opening', [
  { name: 'waiting', color: 'var(--a)', points: over((s) => s.queued - s.admitted - s.soldOut) },
  { name: 'admitted', color: 'var(--b)', points: over((s) => s.admitted) },
  { name: 'bought', color: 'var(--c)', points: over((s) => s.bought) },
  { name: 'told sold out', color: 'var(--d)', points: over((s) => s.soldOut) },
])}
<h2>Admissions per second against the rate</h2>
${chart('Admissions per second', [
  { name: 'admitted', color: 'var(--b)', points: admittedPerSecond },
  {
    name: 'rate',
    color: 'var(--d)',
    points: [
      [0, r.options.rate],
      [last, r.options.rate],
    ],
  },
])}
<h2>Latency</h2>
${table(
  ['milliseconds', 'count', 'p50', 'p90', 'p99', 'p99.9', 'max'],
  Object.entries(r.latencies).map(([name, p]) => [
    name,
    p.count.toLocaleString('en'),
    ms(p.p50),
    ms(p.p90),
    ms(p.p99),
    ms(p.p999),
    ms(p.max),
  ]),
)}
<h2>Requests per visitor</h2>
${table(
  ['request', 'total', 'per visitor'],
  Object.entries(r.counts.requests).map(([name, n]) => [
    name,
    n.toLocaleString('en'),
    (n / r.options.visitors).toFixed(3),
  ]),
)}
<h2>Fairness: joined against served</h2>
${fairness(stories)}
${
  r.complaints.length > 0
    ? `<h2>What clients complained of</h2>${table(
        ['complaint', 'times'],
        r.complaints.map(([c, n]) => [c, String(n)]),
      )}`
    : ''
}
</main>
</html>
`
}

function chart(label: string, series: readonly Series[]): string {
  const all = series.flatMap((s) => s.points)
  const [x0, x1] = [Math.min(0, ...all.map((p) => p[0])), Math.max(1, ...all.map((p) => p[0]))]
  const y1 = Math.max(1, ...all.map((p) => p[1])) * 1.05
  const x = (value: number) => MARGIN.left + ((value - x0) / (x1 - x0)) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (value: number) => HEIGHT - MARGIN.bottom - (value / y1) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const ticks = [0, 0.25, 0.5, 0.75, 1]
  return `<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(label)}">
${ticks.map((t) => `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(t * y1)}" y2="${y(t * y1)}"/><text x="${MARGIN.left - 6}" y="${y(t * y1) + 4}" text-anchor="end">${short(t * y1)}</text>`).join('')}
${ticks.map((t) => `<text x="${x(x0 + t * (x1 - x0))}" y="${HEIGHT - 8}" text-anchor="middle">${short(x0 + t * (x1 - x0))}${t === 1 ? ' s' : ''}</text>`).join('')}
${series.map((s) => `<polyline style="stroke:${s.color}" points="${s.points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(' ')}"/>`).join('')}
</svg><figcaption>${series.map((s) => `<span><i style="background:${s.color}"></i>${escaped(s.name)}</span>`).join('')}</figcaption></figure>`
}

/** When each number was asked for: a line where the first come are the first served, a cloud where lots were drawn. */
function fairness(stories: readonly Story[]): string {
  const joined = stories.filter((s) => s.number !== null && s.number > 0)
  const step = Math.max(1, Math.ceil(joined.length / MAX_DOTS))
  const dots = joined.filter((_, i) => i % step === 0)
  const first = Math.min(...dots.map((s) => s.joinSentMs))
  const spread = Math.max(1, ...dots.map((s) => s.joinSentMs - first))
  const most = Math.max(1, ...dots.map((s) => s.number ?? 0))
  const x = (s: Story) =>
    MARGIN.left + ((s.joinSentMs - first) / spread) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (s: Story) =>
    HEIGHT - MARGIN.bottom - ((s.number ?? 0) / most) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  return `<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Ticket number by time of joining">
${dots.map((s) => `<circle class="${s.end === 'bought' ? 'bought' : 'dot'}" cx="${x(s).toFixed(1)}" cy="${y(s).toFixed(1)}" r="${s.end === 'bought' ? 2 : 1.2}"/>`).join('')}
<text x="${MARGIN.left - 6}" y="${MARGIN.top + 8}" text-anchor="end">${short(most)}</text><text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 8}" text-anchor="end">${(spread / 1000).toFixed(1)} s after the first</text>
</svg><figcaption><span><i style="background:var(--a)"></i>ticket number by time of joining</span><span><i style="background:var(--c)"></i>bought</span></figcaption></figure>`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: string) =>
    row.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')
  return `<div class="scroll"><table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')}</tbody></table></div>`
}

const ms = (value: number) => value.toFixed(value < 10 ? 2 : 0)
const short = (value: number) =>
  Math.abs(value) >= 1e6
    ? `${(value / 1e6).toFixed(1)}M`
    : Math.abs(value) >= 1e4
      ? `${Math.round(value / 1e3)}k`
      : String(Math.round(value * 10) / 10)
const escaped = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)

const STYLE = `
:root { color-scheme: light dark; --paper: #fbfaf8; --ink: #1d2129; --quiet: #5d6470; --line: #dfdcd6; --good: #1a7f4b; --bad: #b3261e; --a: #3a63c8; --b: #b36a00; --c: #1a7f4b; --d: #8a4fb0 }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #e8eaee; --quiet: #9aa2af; --line: #2c313a; --good: #5ecb91; --bad: #ff8a80; --a: #88a9ff; --b: #f0b35a; --c: #5ecb91; --d: #c69ae8 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .25rem 0 } h2 { font-size: 1.1rem; margin: 2.5rem 0 .75rem }
.quiet, .checks span, figcaption { color: var(--quiet) }
.verdict { font-weight: 700; margin: 0 } .good.verdict { color: var(--good) } .bad.verdict { color: var(--bad) }
.checks { list-style: none; padding: 0; margin: 0 } .checks li { padding: .5rem 0 .5rem 1.75rem; border-top: 1px solid var(--line); position: relative }
.checks li::before { position: absolute; left: 0; font-weight: 700 } .checks .good::before { content: "✔"; color: var(--good) } .checks .bad::before { content: "✘"; color: var(--bad) }
figure { margin: 0 } svg { width: 100%; height: auto; font-size: 11px } svg text { fill: var(--quiet) } .grid { stroke: var(--line) } polyline { fill: none; stroke-width: 1.75; stroke-linejoin: round } .dot { fill: var(--a); opacity: .45 } .bought { fill: var(--c) }
figcaption { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .875rem } figcaption i { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; margin-right: .35rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .9rem } th, td { text-align: right; padding: .35rem .5rem; border-top: 1px solid var(--line) } th:first-child, td:first-child { text-align: left } th { color: var(--quiet); font-weight: 500 }
`
