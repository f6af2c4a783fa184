/** Rows of measurements, their ratios to something measured in the same run, their aims, and the results. */
import { duration, n } from '../lib/figures.ts'
import type { Measured } from './load.ts'

export interface Aim {
  readonly ratio?: number
  readonly cpuRatio?: number
  readonly perSecond?: number
  readonly cpuMicros?: number
  /** The processor time as a percentage of one core. */
  readonly corePercent?: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** The slowest value, if there are too few for a percentile. */
  readonly slowestMs?: number
}

export interface Row {
  readonly what: string
  readonly measured: Measured
  /** The ratio to the compared row; 1 means equally fast. */
  readonly ratio: number | null
  /** The ratio by processor time, which does not depend on how busy the client was. */
  readonly cpuRatio: number | null
  readonly aim: Aim | null
  /** The minimum that is necessary, in the same comparison; no implementation could be faster. */
  readonly floor: Row | null
}

export interface Table {
  readonly title: string
  /** The heading of the column of ratios. */
  readonly against: string
  readonly rows: readonly Row[]
}

/** A row that is compared with another: its speed as a multiple of `against`. */
export function row(
  what: string,
  measured: Measured,
  against: Measured | null,
  aim: Aim | null = null,
  floor: Pick<Row, 'what' | 'measured'> | null = null,
): Row {
  return {
    what,
    measured,
    ratio: against && measured.perSecond / against.perSecond,
    cpuRatio: against?.cpuMicros && measured.cpuMicros ? against.cpuMicros / measured.cpuMicros : null,
    aim,
    floor: floor && row(`floor: ${floor.what}`, floor.measured, against),
  }
}

/** The row of an alternative: the factor by which this system is faster. */
export function ahead(
  what: string,
  theirs: Measured,
  ours: Measured,
  aim: Aim | null = null,
  floor: Pick<Row, 'what' | 'measured'> | null = null,
): Row {
  return { ...row(what, ours, theirs, aim, floor), measured: theirs }
}

// -- What was reached -----------------------------------------------------------------------------------------------

interface Kind {
  readonly isAtLeast?: true
  of(row: Row): number | null
  text(value: number): string
}

/** The kinds of aims in the order in which they are shown. */
const KINDS: Readonly<Record<keyof Aim, Kind>> = {
  ratio: { isAtLeast: true, of: ({ ratio }) => ratio, text: times },
  cpuRatio: { isAtLeast: true, of: ({ cpuRatio }) => cpuRatio, text: (value) => `${times(value)} by CPU` },
  perSecond: { isAtLeast: true, of: ({ measured }) => measured.perSecond, text: (value) => `${n(value)}/s` },
  cpuMicros: { of: ({ measured }) => measured.cpuMicros, text: (value) => `${value.toFixed(0)} us of CPU` },
  corePercent: {
    of: ({ measured }) => measured.cpuMicros && measured.cpuMicros / 1e4,
    text: (value) => `${value.toFixed(1)} % of a core`,
  },
  p50Ms: { of: ({ measured }) => measured.ms.p50, text: (value) => `p50 ${duration(value)}` },
  p99Ms: { of: ({ measured }) => measured.ms.p99, text: (value) => `p99 ${duration(value)}` },
  slowestMs: { of: ({ measured }) => measured.ms.max, text: (value) => `all ${duration(value)}` },
}

interface Reached {
  readonly what: string
  readonly now: string
  readonly aim: string
  readonly isMet: boolean
  /** The floor is shown only for an aim that is not met. */
  readonly floor: string
}

/** Each aim of a row with its result. */
export function reachedOf(row: Row): Reached[] {
  return Object.entries(KINDS).flatMap(([name, { isAtLeast, of, text }]) => {
    const aim = row.aim?.[name as keyof Aim]
    if (aim === undefined) return []
    const value = of(row)
    const isMet = value !== null && (isAtLeast ? value >= aim : value <= aim)
    const floor = row.floor && of(row.floor)
    return {
      what: row.what,
      now: value === null ? 'not known' : text(value),
      aim: `${isAtLeast ? '>=' : '<='} ${text(aim)}`,
      isMet,
      floor: isMet || floor === null ? '' : `${text(floor)}, ${row.floor?.what.replace('floor: ', '')}`,
    }
  })
}

/** True if all aims of a row are met, null if there are none. */
export function isReached(row: Row): boolean | null {
  const reached = reachedOf(row)
  return reached.length === 0 ? null : reached.every(({ isMet }) => isMet)
}

/** Every aim of the tables, named with its table. */
export const aimsOf = (tables: readonly Table[]): Reached[] =>
  tables.flatMap(({ title, rows }) =>
    rows.flatMap(reachedOf).map((reached) => ({ ...reached, what: `${title}: ${reached.what}` })),
  )

/** The aims of the tables as rows of a table in Markdown. */
export function markdownOf(tables: readonly Table[]): string {
  const line = (...cells: string[]) => `| ${cells.join(' | ')} |\n`
  const rows = aimsOf(tables).map(({ what, now, aim, isMet, floor }) =>
    line(what, now, aim, isMet ? 'met' : 'not met', floor),
  )
  return line('what', 'now', 'aim', '', 'floor') + line('---', '---', '---', '---', '---') + rows.join('')
}

export function times(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(1)} x`
}
