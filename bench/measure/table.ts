/** What a bench run is told, and how its results are shown. */
import { paint, terminal } from '../../dev/command.ts'
import { duration, n, short } from '../lib/figures.ts'
import type { Measured } from './load.ts'

export interface Bench {
  /** Short runs of each contestant, of which the median counts. */
  readonly rounds: number
  readonly seconds: number
  /** Buyers at once. */
  readonly buyers: readonly number[]
  /** The largest crowd of the growth measurements that really joins. */
  readonly crowd: number
}

export interface Row {
  readonly what: string
  readonly measured: Measured
  /** Against what it is held against: 1 is as fast. */
  readonly ratio: number | null
  /** The same by processor time, which does not depend on how busy the client was. */
  readonly cpuRatio?: number | null
  readonly aim: {
    readonly ratio?: number
    readonly perSecond?: number
    readonly p99Ms?: number
    /** Where there are too few for a percentile. */
    readonly slowestMs?: number
  } | null
}

export interface Table {
  readonly title: string
  /** What the ratios are to, as the head of their column. */
  readonly against: string
  readonly rows: readonly Row[]
}

/** A 99th percentile of fewer is nothing but the slowest. */
const ENOUGH_FOR_P99 = 100

/** Whether the aim is reached: true, false, or null where there is none. */
export function reached({ aim, ratio, measured }: Row): boolean | null {
  if (!aim) return null
  if (aim.ratio !== undefined && (ratio ?? 0) < aim.ratio) return false
  if (aim.perSecond !== undefined && measured.perSecond < aim.perSecond) return false
  if (aim.slowestMs !== undefined && measured.ms.max >= aim.slowestMs) return false
  return aim.p99Ms === undefined || measured.ms.p99 < aim.p99Ms
}

/** Says on the last line of a terminal what is being measured; nothing takes the line away. */
export function nowMeasuring(what: string): void {
  if (terminal) process.stdout.write(`\r\x1b[K${what && paint('dim', what)}`)
}

export function printTable({ title, against, rows }: Table): void {
  nowMeasuring('')
  const width = Math.max(26, ...rows.map((r) => r.what.length))
  console.log(`\n${paint('bold', title)}`)
  const head = ['a second', 'p50', 'p99', against, 'by CPU', 'CPU each', 'aim']
  console.log(paint('dim', `  ${''.padEnd(width)}${head.map((name) => name.padStart(11)).join('')}`))
  for (const row of rows) {
    const { measured: m, ratio, cpuRatio, aim } = row
    const good = reached(row)
    const mark = good === null ? '' : good ? paint('green', ' ✔') : paint('red', ' ✘')
    const cells = [
      n(m.perSecond),
      m.ms.count < 1 ? '–' : duration(m.ms.p50),
      m.ms.count < ENOUGH_FOR_P99 ? '–' : duration(m.ms.p99),
      ratio === null ? '' : times(ratio),
      cpuRatio == null ? '' : times(cpuRatio),
      m.cpuMicros === null ? '' : `${m.cpuMicros.toFixed(0)} us`,
      aimText(aim),
    ]
    console.log(`  ${row.what.padEnd(width)}${cells.map((cell) => cell.padStart(11)).join('')}${mark}`)
    if (m.wrong > 0) console.log(paint('red', `    ${m.wrong} wrong answers, the first: ${m.why}`))
    if (m.clientCpu > 0.95) console.log(paint('dim', '    limited by the client, which used its core up'))
  }
}

const times = (ratio: number) => `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(1)} x`

function aimText(aim: Row['aim']): string {
  if (!aim) return ''
  if (aim.ratio !== undefined) return `${aim.ratio} x`
  if (aim.perSecond !== undefined) return `${short(aim.perSecond)}/s`
  return aim.slowestMs === undefined ? `p99 ${duration(aim.p99Ms ?? 0)}` : `all ${duration(aim.slowestMs)}`
}
