/**
 * Growth: what one more visitor costs among a thousand and among a million. Whatever decides about a place must cost the
 * same, and what the objects keep must not grow with the crowd.
 */
import { readdirSync, statSync } from 'node:fs'
import { join as path } from 'node:path'
import { Block } from '../../../edge/queue/lease.ts'
import { positionOf } from '../../../shared/draw.ts'
import { placeOf, pollAfterMs } from '../../../shared/schedule.ts'
import { n } from '../../lib/figures.ts'
import { HttpClient, requestText } from '../../lib/http.ts'
import { sampleSchedule } from '../../lib/sample-schedule.ts'
import { cpuSeconds, median, residentBytes } from '../load.ts'
import { createSale, type Stage } from '../stage.ts'
import { type Bench, printCells } from '../table.ts'

const CROWDS = [1_000, 10_000, 100_000, 1_000_000]
const SEED = '5e'.repeat(32)
const JOINING = 64
const NUMBERS = 1_000_000
const POSITIONS = 8_000
const PLACES = 100_000

export async function growth(stage: Stage, { rounds, crowd }: Bench) {
  const real = await realCosts(stage, crowd)
  printCells(
    'Growth: real joins at the edge',
    ['visitors', 'CPU for each more', 'memory in all', 'storage in all'],
    real.map((r) => ({
      cells: [
        n(r.visitors),
        `${r.joinCpuMicros.toFixed(0)} us`,
        `${(r.memoryBytes / 2 ** 20).toFixed(0)} MB`,
        `${(r.storageBytes / 1024).toFixed(0)} KB`,
      ],
    })),
  )
  const pure = CROWDS.map((visitors) => pureCosts(visitors, rounds))
  printCells(
    'Growth: what one visitor costs, by the size of the crowd (a position takes one to four passes of the network)',
    ['visitors', 'a number', 'a position', 'a place, and when to poll', 'the schedule'],
    pure.map((r) => ({
      cells: [
        n(r.visitors),
        `${r.numberNanos.toFixed(0)} ns`,
        `${r.positionMicros.toFixed(1)} us`,
        `${r.placeNanos.toFixed(0)} ns`,
        `${r.scheduleBytes} bytes`,
      ],
    })),
  )
  return { pure, real }
}

/** The draw is over everyone, which is when it costs most. */
function pureCosts(visitors: number, rounds: number) {
  const draw = { seed: SEED, size: visitors, beacon: null }
  const schedule = sampleSchedule({
    sale: 'growth',
    anchor_at_ms: 1_000_000,
    anchor_position: 10,
    rate_per_second: 2_000,
    ceiling: visitors,
    pre_queue_size: visitors,
    draw_commitment: SEED,
    draw_seed: SEED,
  })
  const number = (i: number) => 1 + ((i * 7_919) % visitors)
  // A lease holds a quarter of a second of a crowd that comes within ten.
  const count = Math.max(1, Math.ceil(visitors / 40))
  const blockOf = (first: number) => new Block({ id: 1, first, count, lives_ms: 1e9, lapses_in_ms: null }, 0, 0)
  const numberMs = medianMs(rounds, NUMBERS, () => {
    let block = blockOf(1)
    for (let i = 0; i < NUMBERS; i++) if (block.take(1) === null) block = blockOf(i + 1)
  })
  const positionMs = medianMs(rounds, POSITIONS, () => {
    for (let i = 0; i < POSITIONS; i++) positionOf(draw, number(i))
  })
  const placeMs = medianMs(rounds, PLACES, () => {
    for (let i = 0; i < PLACES; i++)
      pollAfterMs(
        placeOf(schedule, number(i), 1_000_500, () => visitors),
        0.5,
      )
  })
  return {
    visitors,
    numberNanos: numberMs * 1e6,
    positionMicros: positionMs * 1e3,
    placeNanos: placeMs * 1e6,
    scheduleBytes: JSON.stringify(schedule).length,
  }
}

/** Milliseconds per item, after one round to warm up. */
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

/** Ever more real visitors join a real sale. */
async function realCosts(stage: Stage, crowd: number) {
  const { edge, dataDir } = stage.system
  const sale = await createSale(stage, { stock: 100, rate: 0.01, opensInMs: 3_600_000 })
  const client = new HttpClient({ url: edge.url, connections: JOINING })
  const text = requestText('POST', `/sales/${sale}/queue`, client.host, ['accept: application/json'])
  const rows = []
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

async function joinAll(client: HttpClient, text: string, visitors: number): Promise<void> {
  let left = visitors
  const joining = async () => {
    while (left-- > 0) {
      const { status, failure } = await client.request(text)
      if (status !== 201) throw new Error(`A join responded ${status || failure}.`)
    }
  }
  await Promise.all(Array.from({ length: JOINING }, joining))
}

function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(path(entry.parentPath, entry.name)).size
  return bytes
}
