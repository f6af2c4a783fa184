/** The tables of measurements: rows with a ratio to something measured in the same run, and their aims. */
import { paint } from '../../dev/command.ts'
import { duration, n, short } from '../lib/figures.ts'
import { type Measured, nowMeasuring } from './load.ts'

export interface Bench {
  /** Short runs of each contestant, of which the median counts. */
  readonly rounds: number
  readonly seconds: number
  /** Simultaneous buyers. */
  readonly buyers: readonly number[]
  /** The largest crowd that really joins. */
  readonly crowd: number
}

interface Aim {
  readonly ratio?: number
  readonly perSecond?: number
  readonly p99Ms?: number
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
}

export interface Table {
  readonly title: string
  /** The head of the column of ratios. */
  readonly against: string
  readonly rows: readonly Row[]
}

/** A 99th percentile of fewer is nothing but the slowest. */
const ENOUGH_FOR_P99 = 100

/** A row compared with another: how fast it is, as a multiple of `against`. */
export function row(what: string, measured: Measured, against: Measured | null, aim: Aim | null = null): Row {
  return {
    what,
    measured,
    ratio: against && measured.perSecond / against.perSecond,
    cpuRatio: against?.cpuMicros && measured.cpuMicros ? against.cpuMicros / measured.cpuMicros : null,
    aim,
  }
}

/** An alternative's row: by how much ours is ahead of it. */
export function ahead(what: string, theirs: Measured, ours: Measured, aim: Aim | null = null): Row {
  return { ...row(what, ours, theirs, aim), measured: theirs }
}

/** True if the aim is reached, null without one. */
export function reached({ aim, ratio, measured }: Row): boolean | null {
  if (!aim) return null
  if (aim.ratio !== undefined && (ratio ?? 0) < aim.ratio) return false
  if (aim.perSecond !== undefined && measured.perSecond < aim.perSecond) return false
  if (aim.slowestMs !== undefined && measured.ms.max >= aim.slowestMs) return false
  return aim.p99Ms === undefined || measured.ms.p99 < aim.p99Ms
}

export function printTable({ title, against, rows }: Table): void {
  printCells(
    title,
    ['', 'a second', 'p50', 'p99', against, 'by CPU', 'CPU each', 'aim'],
    rows.map((row) => {
      const { measured: m, ratio, cpuRatio, aim } = row
      const good = reached(row)
      return {
        cells: [
          row.what,
          n(m.perSecond),
          m.ms.count < 1 ? '–' : duration(m.ms.p50),
          m.ms.count < ENOUGH_FOR_P99 ? '–' : duration(m.ms.p99),
          ratio === null ? '' : times(ratio),
          cpuRatio === null ? '' : times(cpuRatio),
          m.cpuMicros === null ? '' : `${m.cpuMicros.toFixed(0)} us`,
          aim ? aimText(aim) : '',
        ],
        mark: good === null ? '' : good ? paint('green', ' ✔') : paint('red', ' ✘'),
        notes: [
          ...(m.wrong > 0 ? [paint('red', `    ${m.wrong} wrong responses, the first: ${m.why}`)] : []),
          ...(m.clientCpu > 0.95 ? [paint('dim', '    limited by the client, which used up its core')] : []),
        ],
      }
    }),
  )
}

export function printCells(
  title: string,
  head: readonly string[],
  rows: readonly {
    readonly cells: readonly string[]
    readonly mark?: string
    readonly notes?: readonly string[]
  }[],
): void {
  nowMeasuring('')
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((r) => r.cells[i]?.length ?? 0)) + 2)
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? `  ${cell.padEnd(widths[i] ?? 0)}` : cell.padStart(widths[i] ?? 0))).join('')
  console.log(`\n${paint('bold', title)}`)
  console.log(paint('dim', line(head)))
  for (const { cells, mark = '', notes = [] } of rows) {
    console.log(line(cells) + mark)
    for (const note of notes) console.log(note)
  }
}

const times = (ratio: number) => `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(1)} x`

function aimText(aim: Aim): string {
  if (aim.ratio !== undefined) return `${aim.ratio} x`
  if (aim.perSecond !== undefined) return `${short(aim.perSecond)}/s`
  return aim.slowestMs === undefined ? `p99 ${duration(aim.p99Ms ?? 0)}` : `all ${duration(aim.slowestMs)}`
}
