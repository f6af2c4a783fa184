/** Prints the tables of measurements. */
import { paint } from '../../dev/lib/command.ts'
import { duration, n } from '../lib/figures.ts'
import { nowMeasuring } from './load.ts'
import { PROGRAMS } from './programs.ts'
import { aimsOf, isReached, type Row, reachedOf, type Table, times } from './rows.ts'

export interface Bench {
  /** The number of short rounds of each contestant, whose median counts. */
  readonly rounds: number
  readonly seconds: number
  /** The numbers of concurrent buyers: of checkouts, and in the comparison with alternatives. */
  readonly buyers: readonly number[]
  readonly rivals: readonly number[]
  /** The numbers of concurrent buyers of carts and seats. */
  readonly sellers: readonly number[]
  /** The size of the largest crowd that really joins. */
  readonly crowd: number
  /** The number of orders that are sold, one part of their life after the other. */
  readonly orders: number
}

/** With fewer values, a 99th percentile is only the slowest. */
const ENOUGH_FOR_P99 = 100

export function printTable({ title, against, rows }: Table): void {
  if (rows.some(({ measured }) => measured.cpuOf)) printPrograms(title, rows)
  else printRates(title, against, rows)
}

function printRates(title: string, against: string, rows: readonly Row[]): void {
  printCells(
    title,
    ['', 'a second', 'p50', 'p99', against, 'by CPU', 'CPU each', 'aim'],
    // The floor of an aim that is not met is shown below it.
    rows.flatMap((row) =>
      isReached(row) === false && row.floor ? [cellsOf(row), cellsOf(row.floor)] : [cellsOf(row)],
    ),
  )
}

/** The processor time of each program in microseconds. */
function printPrograms(title: string, rows: readonly Row[]): void {
  const us = (value?: number | null) => (value === undefined || value === null ? '' : n(Math.round(value)))
  printCells(
    title,
    ['processor time, us', ...PROGRAMS, 'our own', 'floor', 'a second', 'p50', 'p99'],
    rows.flatMap(({ what, measured: { cpuOf, cpuMicros, perSecond, ms }, floor }) => {
      if (!cpuOf) return []
      const programs = PROGRAMS.map((program) => us(cpuOf[program]))
      const latency = ms.count < ENOUGH_FOR_P99 ? [] : [duration(ms.p50), duration(ms.p99)]
      const rate = perSecond > 0 ? n(Math.round(perSecond)) : ''
      return [{ cells: [what, ...programs, us(cpuMicros), us(floor?.measured.cpuMicros), rate, ...latency] }]
    }),
  )
}

function cellsOf(row: Row): Cells {
  const { what, measured: m, ratio, cpuRatio } = row
  const reached = isReached(row)
  return {
    cells: [
      what,
      n(m.perSecond),
      m.ms.count < 1 ? '–' : duration(m.ms.p50),
      m.ms.count < ENOUGH_FOR_P99 ? '–' : duration(m.ms.p99),
      ratio === null ? '' : times(ratio),
      cpuRatio === null ? '' : times(cpuRatio),
      m.cpuMicros === null ? '' : `${m.cpuMicros.toFixed(0)} us`,
      reachedOf(row)
        .map(({ aim }) => aim)
        .join(', '),
    ],
    mark: reached === null ? '' : markOf(reached),
    notes: [
      ...(m.wrong > 0 ? [paint('red', `    ${m.wrong} wrong responses, the first: ${m.why}`)] : []),
      ...(m.clientCpu > 0.95 ? [paint('dim', '    limited by the client, which used up its core')] : []),
    ],
  }
}

/** Prints every aim of the tables with its result. */
export function printAims(tables: readonly Table[]): void {
  const aims = aimsOf(tables)
  if (aims.length === 0) return
  printCells(
    `Aims: ${aims.filter(({ isMet }) => isMet).length} of ${aims.length} met`,
    ['', 'now', 'aim'],
    aims.map(({ what, now, aim, isMet, floor }) => ({
      cells: [what, now, aim],
      mark: markOf(isMet),
      notes: floor === '' ? [] : [paint('dim', `      floor: ${floor}`)],
    })),
  )
}

const markOf = (isMet: boolean) => (isMet ? paint('green', ' ✔') : paint('red', ' ✘'))

interface Cells {
  readonly cells: readonly string[]
  readonly mark?: string
  readonly notes?: readonly string[]
}

export function printCells(title: string, head: readonly string[], rows: readonly Cells[]): void {
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
