/** Rows of measurements: a ratio to something measured in the same run, their aims, and what was reached of each. */
import { duration, n } from '../lib/figures.ts'
import type { Measured } from './load.ts'

export interface Aim {
  readonly ratio?: number
  readonly cpuRatio?: number
  readonly perSecond?: number
  /** Of what should be rare. */
  readonly mostPerSecond?: number
  readonly cpuMicros?: number
  /** Of a second. */
  readonly corePercent?: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  readonly p999Ms?: number
  /** Where there are too few for a percentile. */
  readonly slowestMs?: number
}

export interface Row {
  readonly what: string
  readonly measured: Measured
  /** To the row it is compared with: 1 is as fast. */
  readonly ratio: number | null
  /** The same by processor time, which does not depend on how busy the client was. */
  readonly cpuRatio: number | null
  readonly aim: Aim | null
  /** What does only what must be done, compared with the same: no code of ours could reach more. */
  readonly floor: Row | null
}

export interface Table {
  readonly title: string
  /** The head of the column of ratios. */
  readonly against: string
  readonly rows: readonly Row[]
}

/** A row compared with another: how fast it is, as a multiple of `against`. */
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

/** An alternative's row: by how much ours is ahead of it. */
export function ahead(
  what: string,
  theirs: Measured,
  ours: Measured,
  aim: Aim | null = null,
  floor: Pick<Row, 'what' | 'measured'> | null = null,
): Row {
  return { ...row(what, ours, theirs, aim, floor), measured: theirs }
}

// -- What was reached --------------------------------------------------------------------------------------------------

interface Kind {
  readonly isAtLeast?: true
  of(row: Row): number | null
  text(value: number): string
}

/** In the order in which the aims of a row are shown. */
const KINDS: Readonly<Record<keyof Aim, Kind>> = {
  ratio: { isAtLeast: true, of: ({ ratio }) => ratio, text: times },
  cpuRatio: { isAtLeast: true, of: ({ cpuRatio }) => cpuRatio, text: (value) => `${times(value)} by CPU` },
  perSecond: { isAtLeast: true, of: ({ measured }) => measured.perSecond, text: (value) => `${n(value)}/s` },
  mostPerSecond: { of: ({ measured }) => measured.perSecond, text: (value) => `${n(value)}/s` },
  cpuMicros: { of: ({ measured }) => measured.cpuMicros, text: (value) => `${value.toFixed(0)} us of CPU` },
  corePercent: {
    of: ({ measured }) => measured.cpuMicros && measured.cpuMicros / 1e4,
    text: (value) => `${value.toFixed(1)} % of a core`,
  },
  p50Ms: { of: ({ measured }) => measured.ms.p50, text: (value) => `p50 ${duration(value)}` },
  p99Ms: { of: ({ measured }) => measured.ms.p99, text: (value) => `p99 ${duration(value)}` },
  p999Ms: { of: ({ measured }) => measured.ms.p999, text: (value) => `99.9 % ${duration(value)}` },
  slowestMs: { of: ({ measured }) => measured.ms.max, text: (value) => `all ${duration(value)}` },
}

interface Reached {
  readonly what: string
  readonly now: string
  readonly aim: string
  readonly isMet: boolean
  /** Only of an aim that is not met. */
  readonly floor: string
}

/** Each aim of a row, with what was reached of it. */
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

/** True if all aims of a row are reached, null without one. */
export function isReached(row: Row): boolean | null {
  const reached = reachedOf(row)
  return reached.length === 0 ? null : reached.every(({ isMet }) => isMet)
}

/** Every aim of the tables, named by its table too. */
export const aimsOf = (tables: readonly Table[]): Reached[] =>
  tables.flatMap(({ title, rows }) =>
    rows.flatMap(reachedOf).map((reached) => ({ ...reached, what: `${title}: ${reached.what}` })),
  )

/** The aims of tables, as the rows of a table in Markdown. */
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
