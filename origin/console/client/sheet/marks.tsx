/** Marks for states and shares: a state is a shape as well as a colour, and a share is drawn to its length. */
import type { ComponentChildren } from 'preact'
import { count } from '../format.ts'

/** `unknown` is what nobody knows now, and `off` is what is over or not used. */
export type Mark = 'good' | 'watch' | 'bad' | 'info' | 'unknown' | 'off'

export const Dot = ({ level, beats }: { readonly level: Mark; readonly beats?: boolean }) => (
  <i class={`dot is-${level}${beats ? ' beats' : ''}`} aria-hidden="true" />
)

interface StateProps {
  readonly level: Mark
  /** True for what is going on now. */
  readonly beats?: boolean
  readonly children: ComponentChildren
}

/** A state as a tinted tag: a shape, a colour, and a word. */
export const State = ({ level, beats, children }: StateProps) => (
  <span class={`tag is-${level}`}>
    <Dot level={level} beats={beats ?? false} />
    {children}
  </span>
)

const PHASES: Readonly<Record<string, readonly [Mark, string]>> = {
  upcoming: ['info', 'Coming'],
  open: ['good', 'Open'],
  paused: ['info', 'Paused'],
  all_in_carts: ['info', 'All in carts'],
  sold_out: ['off', 'Sold out'],
  ended: ['off', 'Over'],
}

/** The phase of a sale. */
export function Phase({ phase, children }: { readonly phase: string; readonly children?: ComponentChildren }) {
  const [level, text] = PHASES[phase] ?? ['off', phase.replaceAll('_', ' ')]
  return (
    <State level={level} beats={phase === 'open'}>
      {text}
      {children}
    </State>
  )
}

interface Share {
  readonly name: string
  readonly value: number
  /** `--c1` is sold, paid and counted; `--c2` held and waiting; `--c3` called and past; `--c4` turned away. */
  readonly colour: '--c1' | '--c2' | '--c3' | '--c4'
}

const widthOf = (value: number, total: number) => `${total > 0 ? Math.min(100, (100 * value) / total) : 0}%`
const inWords = (shares: readonly Share[], total: number) =>
  `${shares.map(({ name, value }) => `${count(value)} ${name}`).join(', ')} of ${count(total)}`

/** Shares of a total as a bar. What is left is the track. */
export const Meter = ({ shares, total }: { readonly shares: readonly Share[]; readonly total: number }) => (
  <span class="meter" role="img" aria-label={inWords(shares, total)}>
    {shares.map(({ name, value, colour }) => (
      <i key={name} style={`--wide: ${widthOf(value, total)}; --c: var(${colour})`} />
    ))}
  </span>
)

interface Units {
  readonly sold: number
  readonly held: number
  readonly total: number
}

export const stockShares = ({ sold, held }: Omit<Units, 'total'>): readonly Share[] => [
  { name: 'sold', value: sold, colour: '--c1' },
  { name: 'held', value: held, colour: '--c2' },
]

/** What is sold and held of some units. */
export const StockMeter = (units: Units) => <Meter shares={stockShares(units)} total={units.total} />

const RADIUS = 52
/** The gap between two arcs in percent of the ring. */
const GAP = 0.6

/** Shares of a total as a ring, with the percentage of the first in its middle. */
export function Ring({ shares, total }: { readonly shares: readonly Share[]; readonly total: number }) {
  const percents = shares.map(({ value }) => (total > 0 ? (100 * value) / total : 0))
  const startOf = (at: number) => percents.slice(0, at).reduce((sum, percent) => sum + percent + GAP, 0)
  return (
    <svg viewBox="0 0 120 120" role="img" aria-label={inWords(shares, total)}>
      <g transform="rotate(-90 60 60)">
        <circle class="ring" cx="60" cy="60" r={RADIUS} stroke="var(--track)" />
        {shares.map(({ name, colour }, i) => (
          <circle
            key={name}
            class="ring"
            cx="60"
            cy="60"
            r={RADIUS}
            pathLength={100}
            stroke={`var(${colour})`}
            stroke-dasharray={`${percents[i]} 100`}
            stroke-dashoffset={-startOf(i)}
          />
        ))}
      </g>
      <text
        x="60"
        y="60"
        text-anchor="middle"
        dominant-baseline="central"
        font-size="21"
        font-weight="650"
        fill="currentColor"
      >
        {Math.round(percents[0] ?? 0)} %
      </text>
    </svg>
  )
}

interface SparkProps {
  readonly values: readonly (number | null)[]
  readonly colour?: '--c1' | '--c2' | '--c3' | '--c4'
  readonly high?: boolean
}

/** A small line without axes, for the eye only. A value that is not known leaves a gap. */
export function Spark({ values, colour = '--c1', high }: SparkProps) {
  const most = Math.max(1e-9, ...values.map((value) => value ?? 0))
  const points = values.map((value, i) =>
    value === null ? null : ([(100 * i) / Math.max(1, values.length - 1), 26.5 - (25 * value) / most] as const),
  )
  const runs: (readonly [number, number])[][] = [[]]
  for (const point of points) {
    if (point) runs.at(-1)?.push(point)
    else if (runs.at(-1)?.length) runs.push([])
  }
  const lines = runs.filter((run) => run.length > 1)
  const path = (run: readonly (readonly [number, number])[]) =>
    `M${run.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`
  return (
    <svg
      class={high ? 'spark high' : 'spark'}
      viewBox="0 0 100 28"
      preserveAspectRatio="none"
      aria-hidden="true"
      style={`--c: var(${colour})`}
    >
      {lines.map((run, i) => (
        <g key={i}>
          <path class="area" d={`${path(run)}V28H${run[0]?.[0].toFixed(1)}z`} />
          <path d={path(run)} />
        </g>
      ))}
    </svg>
  )
}

/** Counts with their shares as bars, the largest first. */
export function Bars({ rows }: { readonly rows: readonly (readonly [name: string, value: number])[] }) {
  const most = Math.max(1, ...rows.map(([, value]) => value))
  const all = Math.max(
    1,
    rows.reduce((sum, [, value]) => sum + value, 0),
  )
  return (
    <ul class="bars">
      {rows.map(([name, value]) => (
        <li key={name} style={`--wide: ${(100 * value) / most}%`}>
          <span>{name}</span>
          <b>{count(value)}</b>
          <span>{Math.round((100 * value) / all)} %</span>
        </li>
      ))}
    </ul>
  )
}

export type { Share }
