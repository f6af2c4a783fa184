/** Writes the report of a rehearsal: one HTML file without scripts, for light and dark looks, paper and phone. */

import { KINDS, type Kind, LEAST_AFTER_TURN } from '../../crowd/tally.ts'
import type { Check } from '../../invariants/evidence.ts'
import { duration, n } from '../../lib/figures.ts'
import type { Percentiles } from '../../lib/histogram.ts'
import type { Result } from '../play.ts'
import type { ProgramsUse } from '../programs-used.ts'
import type { Sample } from '../progress.ts'
import { bars, escapeHtml, hallDrawing, lineChart, type Point, scatter, table } from './charts.ts'

/** At most this many kinds of refusals are shown for each attack. */
const MAX_REFUSALS = 4

const nameOf = (kind: Kind) => (kind === 'final' ? 'final page' : kind)

export function reportHtml(r: Result): string {
  const { options: o, samples } = r
  const over = (of: (s: Sample) => number | null): Point[] => samples.map((s) => [s.second, of(s)])
  const perSecond = (of: (s: Sample) => number): [x: number, y: number][] =>
    samples.slice(1).map((s, i) => {
      const before = samples[i] ?? s
      return [s.second, Math.max(0, (of(s) - of(before)) / Math.max(0.2, s.second - before.second))]
    })
  const shopping = perSecond((s) => s.shopping)
  const busy = shopping.filter(([, y]) => y > 0)
  const [from, to] = [busy[0]?.[0] ?? 0, busy.at(-1)?.[0] ?? 1]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rehearsal: ${n(o.visitors)} visitors, ${n(o.stock)} units</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<p class="verdict ${r.good ? 'good' : 'bad'}">${r.good ? 'Good' : 'Not good'}</p>
<h1>${n(o.visitors)} visitors, ${n(o.stock)} units, ${n(o.rate)} admissions a second</h1>
<p class="quiet">Arrivals: ${escapeHtml(o.arrivals)}, over ${n(o.spreadSeconds)} s. Played in
  ${duration(r.seconds * 1000)} on ${escapeHtml(r.at.slice(0, 16).replace('T', ' '))} UTC, with ${n(r.memoryMb)} MB for
    the crowd. Seed ${o.seed}.</p>
</header>
<section><h2>Verdict</h2>
<ul class="checks">${r.checks.map(checkItem).join('')}</ul></section>
<section><h2>How visitors ended</h2>
${bars(
  'Visitors by how they ended',
  Object.entries(r.ends)
    .filter(([, times]) => times > 0)
    .map(([end, times]) => ({ name: end.replaceAll('_', ' '), value: times, note: n(times) })),
)}</section>
${hallSection(r)}${attackSection(r)}<section><h2>The queue over time</h2>
${lineChart('People by seconds since the opening', { x: 'seconds since the opening', y: 'people' }, [
  {
    name: 'still in the sale',
    color: 'a',
    points: over((s) => s.joined - s.ended + neverJoined(s)),
  },
  { name: 'admitted', color: 'b', points: over((s) => s.admitted) },
  { name: 'bought', color: 'c', points: over((s) => s.bought) },
  { name: 'saw sold out', color: 'd', points: over((s) => s.over) },
])}</section>
<section><h2>Arrivals at the checkout against the rate</h2>
${lineChart('First checkout calls per second', { x: 'seconds since the opening', y: 'per second' }, [
  {
    name: 'came to the checkout, per second',
    color: 'b',
    points: shopping.filter(([x]) => x >= from - 2 && x <= to + 2),
  },
  {
    name: 'the rate as configured',
    color: 'd',
    dashed: true,
    points: [
      [from - 2, o.rate],
      [to + 2, o.rate],
    ],
  },
])}</section>
<section><h2>Latency</h2>
<p class="quiet">From the moment a request was meant for until it was served: waiting for a connection and retries
  count. "All in carts" (409) and "not open" (425) are full responses.</p>
${table(
  'Latency by request',
  ['request', 'count', 'p50', 'p90', 'p99', 'p99.9', 'slowest'],
  [
    ...KINDS.map((kind) => latencyRow(nameOf(kind), r.latencies[kind])),
    latencyRow('paid', r.latencies.settled),
    latencyRow('schedule', r.latencies.schedule),
  ].filter((row) => row[1] !== '0'),
)}
<h3>99th percentile, second by second</h3>
${lineChart('99th percentile by second', { x: 'seconds since the opening', y: 'latency', yText: duration }, [
  { name: 'join', color: 'a', points: over((s) => s.joinP99Ms || null) },
  { name: 'checkout', color: 'b', points: over((s) => s.checkoutP99Ms || null) },
])}
${
  r.refusals.length > 0
    ? `<h3>Failures and problem
  responses</h3>${countTable('Refusals', 'response', r.refusals)}`
    : ''
}</section>
${programSection(r)}<section><h2>Requests per visitor</h2>
<p class="quiet">Requests of a buyer after the turn, until the receipt: ${afterTurnText(r)}.</p>
<p class="quiet">${requestsText(r)}, which a Worker serves from memory, or a CDN before it (here one copy a second
  served all: ${n(r.schedule.read)} reads).</p>
${table(
  'Requests by kind',
  ['request', 'total', 'per visitor'],
  [
    ...KINDS.map((kind) => [nameOf(kind), n(r.requests[kind]), (r.requests[kind] / o.visitors).toFixed(3)]),
    ['schedule', n(r.schedule.fromCdn), (r.schedule.fromCdn / o.visitors).toFixed(3)],
  ].filter((row) => row[1] !== '0'),
)}
</section>
<section><h2>Fairness: joined against served</h2>
<p class="quiet">Each dot is a visitor. Before the opening the draw makes a cloud; after it, first come, first served
  makes a line.</p>
${scatter('Position by moment of joining', { x: 'joined, seconds since the opening', y: 'position' }, r.fairness, {
  plain: 'position by the moment of joining',
  strong: 'bought',
})}</section>
${
  r.complaints.length > 0
    ? `<section><h2>Complaints of clients</h2>${countTable('Complaints', 'complaint', r.complaints)}</section>`
    : ''
}
</main>
</body>
</html>
`
}

/** The use of each program, with a header; shares are of one core. */
export function programRows({ whole, selling, programs }: ProgramsUse): string[][] {
  const share = (cpuSeconds: number, seconds: number) => `${((100 * cpuSeconds) / seconds).toFixed(0)} %`
  const used = (cpuSeconds: number, seconds: number) => [`${cpuSeconds.toFixed(1)} s`, share(cpuSeconds, seconds)]
  const mb = (bytes: number) => `${n(Math.round(bytes / 2 ** 20))} MB`
  return [
    ['program', 'CPU', 'of a core', '99% sold', 'of a core', 'opening', 'highest', 'end'],
    ...programs.map(({ name, cpuSeconds, sellingCpuSeconds, bytes }) => [
      name,
      ...used(cpuSeconds, whole.seconds),
      ...(selling && sellingCpuSeconds !== null ? used(sellingCpuSeconds, selling.seconds) : ['–', '–']),
      ...[bytes.opening, bytes.highest, bytes.end].map(mb),
    ]),
  ]
}

/** The cost of a sold order; '' if none was sold, or no such program was there. */
export function soldOrderText({ whole, selling }: ProgramsUse): string {
  if (whole.orderMs === null) return ''
  const of = (ms: number) => `${ms.toFixed(1)} ms`
  const [first, when] =
    typeof selling?.orderMs === 'number'
      ? [selling.orderMs, `while it sells (${of(whole.orderMs)} over the whole run)`]
      : [whole.orderMs, 'over the whole run']
  return `A sold order: ${of(first)} of origin, Postgres and Redis ${when}`
}

function programSection({ programs }: Result): string {
  if (!programs) return ''
  const [head = [], ...rows] = programRows(programs)
  return `<section><h2>What each program used</h2>
<p class="quiet">Processor time from the opening until the last visitor had left, and until 99 % of the units were
  sold; resident memory. ${soldOrderText(programs)}.</p>
${table('Processor and memory by program', head, rows)}</section>
`
}

/** The gains of each attack, with a header. */
export const attackRows = ({ attacks }: Result): string[][] => [
  ['attack', 'bots', 'calls', 'places', 'turns', 'bought', 'held'],
  ...attacks.map((a) => [a.attack, ...[a.bots, a.calls, a.places, a.admissions, a.bought, a.held].map(n)]),
]

/** What remained for the crowd. */
export const honestText = ({ honest: { bought, lost, refusedByLimit, waits } }: Result) =>
  `The crowd bought in ${n(bought)} orders; ${n(lost)} visitors had no honest end, ${n(refusedByLimit)} were ` +
  `refused by a limit; they waited ${duration(waits.p50)} (p50) and ${duration(waits.p99)} (p99) for their turn.`

function hallSection({ hall }: Result): string {
  if (!hall) return ''
  return `<section><h2>The hall in time</h2>
<p class="quiet">Every seat, the stage below, coloured by when in the sale it was reserved.</p>
${hallDrawing(hall)}</section>
`
}

function attackSection(r: Result): string {
  if (r.attacks.length === 0) return ''
  const [head = [], ...rows] = attackRows(r)
  const refusals = r.attacks.flatMap((a) =>
    a.refusals.slice(0, MAX_REFUSALS).map(([what, times]) => [`${a.attack}: ${what}`, times] as const),
  )
  return `<section><h2>Attackers beside the crowd</h2>
<p class="quiet">Units bought, and units kept from others without paying, on average. ${honestText(r)}</p>
${table('Attackers', head, rows)}
${countTable('Refusals of attackers', 'response', refusals)}</section>
`
}

/**
 * The average cost of a visitor: requests that reached a Worker, those that the cache in front of it served, and
 * reads of the schedule.
 */
export function requestsText({ options, perVisitor: { worker, cache, cdn } }: Result): string {
  const served = options.cdn ? `${cache.toFixed(2)} served by the cache before it, ` : ''
  return `${worker.toFixed(2)} to a Worker, ${served}${cdn.toFixed(2)} reads of the public schedule`
}

/**
 * The average number of Worker requests of a buyer from the turn to the receipt. It is above the minimum if a payment
 * fails or waits.
 */
export function afterTurnText({ afterTurn: { buyers, requests, least } }: Result): string {
  if (buyers === 0) return 'none bought by a browser'
  const share = Math.round((100 * least) / buyers)
  return `${(requests / buyers).toFixed(2)}; at most ${LEAST_AFTER_TURN} for ${share}% of ${n(buyers)}`
}

/** The visitors who saw the end without having joined: they have ended, and were never in the queue. */
const neverJoined = (s: Sample) => Math.min(s.arrived - s.joined, s.over)

function countTable(
  caption: string,
  what: string,
  counts: readonly (readonly [what: string, times: number])[],
): string {
  return table(
    caption,
    [what, 'times'],
    counts.map(([each, times]) => [each, n(times)]),
  )
}

/** The results of the checks for screen readers. */
const JUDGED = { good: 'Holds:', bad: 'Does not hold:', open: 'Not judged:' }

function checkItem({ what, holds, detail }: Check): string {
  const kind = holds === null ? 'open' : holds ? 'good' : 'bad'
  return (
    `<li class="${kind}"><b><span class="hidden">${JUDGED[kind]} ` +
    `</span>${escapeHtml(what[0]?.toUpperCase() + what.slice(1))}</b><span>${escapeHtml(detail)}</span></li>`
  )
}

function latencyRow(name: string, p: Percentiles): string[] {
  return [name, n(p.count), ...percentileTexts(p)]
}

/** The values p50, p90, p99, p99.9 and the slowest, with a dash if a percentile would only be the slowest. */
export function percentileTexts({ count, p50, p90, p99, p999, max }: Percentiles): string[] {
  const ifOf = (least: number, ms: number) => (count < least ? '–' : duration(ms))
  return [ifOf(1, p50), ifOf(10, p90), ifOf(100, p99), ifOf(1_000, p999), ifOf(1, max)]
}

const STYLE = `
:root { color-scheme: light dark; --paper: #fbfaf8; --card: #fff; --ink: #1d2129; --quiet: #5d6470; --rule: #e2dfd9;
  --good: #16774a; --bad: #b3261e; --a: #3460c9; --b: #b96a00; --c: #16774a; --d: #8a4fb0 }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #121519; --card: #1a1e24; --ink: #e8eaee;
  --quiet: #a0a8b4; --rule: #2e343d; --good: #5ecb91; --bad: #ff8a80; --a: #86a8ff; --b: #f0b35a; --c: #5ecb91;
    --d: #c69ae8 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  font-variant-numeric: tabular-nums }
main { max-width: 52rem; margin: 0 auto; padding: 2rem 1rem 4rem }
header { padding: 0 .25rem }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .2rem 0 .4rem; text-wrap: balance }
h2 { font-size: 1.1rem; margin: 0 0 .75rem } h3 { font-size: .95rem; margin: 1.5rem 0 .5rem }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 1.25rem;
  margin-top: 1rem }
.quiet, figcaption { color: var(--quiet); margin: 0 0 .75rem; font-size: .9rem }
.verdict { font-weight: 700; margin: 0 } .good.verdict { color: var(--good) } .bad.verdict { color: var(--bad) }
.checks { list-style: none; padding: 0; margin: 0 }
.checks li { padding: .55rem 0 .55rem 1.75rem; border-top: 1px solid var(--rule); position: relative }
.checks li:first-child { border-top: 0 }
.checks b, .checks b + span { display: block } .checks b + span { color: var(--quiet); font-size: .9rem }
.checks li::before { position: absolute; left: 0; font-weight: 700 }
.checks .good::before { content: "✔"; color: var(--good) } .checks .bad::before { content: "✘"; color: var(--bad) }
.checks .open::before { content: "–"; color: var(--quiet) }
figure { margin: 0 } svg { width: 100%; height: auto; display: block; overflow: visible }
svg text { fill: var(--quiet); font-size: 12px }
.seats { fill: none; stroke-width: .8; stroke-linecap: round }
.grid { stroke: var(--rule); stroke-width: 1 } .opening { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 3 4 }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round } .dashed { stroke-dasharray: 7 5 }
.dot { stroke: none; opacity: .5 } .dot.c { opacity: .9 }
svg .a { stroke: var(--a) } svg .b { stroke: var(--b) } svg .c { stroke: var(--c) } svg .d { stroke: var(--d) }
.dot.a { fill: var(--a) } .dot.b { fill: var(--b) } .dot.c { fill: var(--c) } svg .dot { stroke: none }
figcaption { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: .25rem 0 0 }
figcaption i { display: inline-block; width: .75rem; height: .75rem; border-radius: 3px; margin-right: .4rem }
i.a { background: var(--a) } i.b { background: var(--b) } i.c { background: var(--c) } i.d { background: var(--d) }
figcaption i.dashed { width: 1.4rem; height: 0; vertical-align: .25em; border-radius: 0; background: none;
  border-top: 3px dashed var(--d) }
.hidden, caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap }
.track { width: 100% } .track i { display: block; height: .8rem; min-width: 2px; background: var(--a);
  border-radius: 3px } .bars th, .bars td { border: 0; padding: .18rem .4rem } .bars th { color: var(--ink) }
  .bars td:last-child { color: var(--quiet); padding-right: 0 }
.scroll { overflow-x: auto; margin-top: 1rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem; white-space: nowrap }
th, td { text-align: right; padding: .35rem .5rem; border-top: 1px solid var(--rule) }
thead th { border-top: 0; color: var(--quiet) } th:first-child { text-align: left; padding-left: 0 }
th { font-weight: 500 }
@media (max-width: 40rem) { svg text { font-size: 20px } section { padding: 1rem } h1 { font-size: 1.4rem }
.line { stroke-width: 3 } .scroll table { font-size: .8rem } .scroll th, .scroll td { padding: .35rem .25rem } }
@page { margin: 15mm }
@media print { * { print-color-adjust: exact; -webkit-print-color-adjust: exact } body { background: none }
main { max-width: none; padding: 0 } section { border: 0; padding: 0 } figure, tr, li { break-inside: avoid }
h2, h3, .quiet { break-after: avoid } .scroll { overflow: visible } }
`
