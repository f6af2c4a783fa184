/**
 * Growth: what one more visitor costs when there are a thousand of them and when there are a million. Everything that
 * decides about a place must cost the same, and what the objects keep must not grow with the crowd.
 */
import { readdirSync, statSync } from 'node:fs'
import { join as path } from 'node:path'
import { paint } from '../../dev/command.ts'
import { Block } from '../../edge/queue/lease.ts'
import { positionOf } from '../../shared/draw.ts'
import { placeOf, pollAfterMs } from '../../shared/schedule.ts'
import { n } from '../lib/figures.ts'
import { HttpClient, requestText } from '../lib/http.ts'
import { sampleSchedule } from '../lib/sample-schedule.ts'
import { cpuSeconds, median, residentBytes } from './load.ts'
import { createSale, type Stage } from './stage.ts'
import type { Bench } from './table.ts'

const CROWDS = [1_000, 10_000, 100_000, 1_000_000]
const SEED = '5e'.repeat(32)

interface PureRow {
  readonly visitors: number
  readonly numberNanos: number
  readonly positionMicros: number
  readonly placeNanos: number
  readonly scheduleBytes: number
}

interface RealRow {
  readonly visitors: number
  readonly joinCpuMicros: number
  readonly memoryBytes: number
  readonly storageBytes: number
}

export async function growth(stage: Stage, { rounds, crowd }: Bench) {
  const pure = CROWDS.map((visitors) => pureCosts(visitors, rounds))
  table(
    'Growth: what one visitor costs, by the size of the crowd',
    ['visitors', 'a number', 'a position', 'a place, and when to ask', 'the schedule'],
    pure.map((r) => [
      n(r.visitors),
      `${r.numberNanos.toFixed(0)} ns`,
      `${r.positionMicros.toFixed(1)} us`,
      `${r.placeNanos.toFixed(0)} ns`,
      `${r.scheduleBytes} bytes`,
    ]),
  )
  console.log(
    paint(
      'dim',
      '  a position is one to four passes of the network, by how far the size is from a power of four',
    ),
  )
  const real = await realCosts(stage, crowd)
  table(
    'Growth: real joins at the edge',
    ['visitors', 'CPU for each more', 'memory in all', 'storage in all'],
    real.map((r) => [
      n(r.visitors),
      `${r.joinCpuMicros.toFixed(0)} us`,
      `${(r.memoryBytes / 2 ** 20).toFixed(0)} MB`,
      `${(r.storageBytes / 1024).toFixed(0)} KB`,
    ]),
  )
  return { pure, real }
}

/** Costs of the pure parts; the draw is over everyone, which is when it costs most. */
function pureCosts(visitors: number, rounds: number): PureRow {
  const draw = { seed: SEED, size: visitors, beacon: null }
  const schedule = sampleSchedule({
    sale: 'growth',
    version: 42,
    anchor_at_ms: 1_000_000,
    anchor_position: 10,
    rate_per_second: 2_000,
    ceiling: visitors,
    pre_queue_size: visitors,
    draw_commitment: SEED,
    draw_seed: SEED,
    server_time_ms: 1_000_000,
  })
  const some = 8_000
  const number = (i: number) => 1 + ((i * 7_919) % visitors)
  const known = () => visitors
  return {
    visitors,
    numberNanos:
      1e6 *
      medianMs(rounds, TAKES, () => {
        // A lease holds a quarter of a second of a crowd that comes within ten.
        const count = Math.max(1, Math.ceil(visitors / 40))
        let block = blockOf(1, count)
        for (let i = 0; i < TAKES; i++) if (block.take(1) === null) block = blockOf(i + 1, count)
      }),
    positionMicros:
      1e3 *
      medianMs(rounds, some, () => {
        for (let i = 0; i < some; i++) positionOf(draw, number(i))
      }),
    placeNanos:
      1e6 *
      medianMs(rounds, 100_000, () => {
        for (let i = 0; i < 100_000; i++) pollAfterMs(placeOf(schedule, number(i), 1_000_500, known), 0.5)
      }),
    scheduleBytes: JSON.stringify(schedule).length,
  }
}

const TAKES = 1_000_000
const blockOf = (first: number, count: number) =>
  new Block({ first, count, lives_ms: 1e9, lapses_in_ms: null }, 0, 0)

/** Milliseconds per item: the median of the rounds, after one that does not count. */
function medianMs(rounds: number, items: number, work: () => void): number {
  work()
  return median(
    Array.from({ length: Math.max(3, rounds) }, () => {
      const beganMs = performance.now()
      work()
      return (performance.now() - beganMs) / items
    }),
  )
}

/** Real visitors join a real sale, ever more of them, and what the edge uses for it is looked at in between. */
async function realCosts(stage: Stage, crowd: number): Promise<RealRow[]> {
  const { edge, edgeUrl, dataDir } = stage.system
  const sale = await createSale(stage, { stock: 100, rate: 0.01, opensInMs: 3_600_000 })
  const client = new HttpClient({ url: edgeUrl, connections: 64 })
  const text = requestText('POST', `/sales/${sale}/queue`, client.host, ['accept: application/json'])
  const rows: RealRow[] = []
  let joined = 0
  try {
    for (const visitors of [...CROWDS.filter((size) => size < crowd), crowd]) {
      const cpu = cpuSeconds([edge.pid])
      const more = visitors - joined
      await joinAll(client, text, more)
      joined = visitors
      rows.push({
        visitors,
        joinCpuMicros: ((cpuSeconds([edge.pid]) - cpu) * 1e6) / more,
        memoryBytes: residentBytes(edge.pid),
        storageBytes: folderBytes(path(dataDir, 'edge', 'objects')),
      })
    }
  } finally {
    client.close()
  }
  return rows
}

function joinAll(client: HttpClient, text: string, visitors: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let [left, open] = [visitors, 0]
    const one = () => {
      if (left-- <= 0) {
        if (open === 0) resolve()
        return
      }
      open++
      client.send(text, (answer) => {
        open--
        if (answer.status !== 201) reject(new Error(`A join answered ${answer.status || answer.failure}.`))
        else one()
      })
    }
    for (let i = 0; i < 64; i++) one()
  })
}

function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(path(entry.parentPath, entry.name)).size
  return bytes
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((r) => r[i]?.length ?? 0)) + 2)
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('')
  console.log(`\n${paint('bold', title)}`)
  console.log(paint('dim', line(head)))
  for (const cells of rows) console.log(line(cells))
}
