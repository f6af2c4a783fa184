/**
 * Measures growth: one more visitor must cost the same among a thousand and among a million, and the objects' data
 * must not grow with the crowd.
 */
import { readdirSync, statSync } from 'node:fs'
import { join as path } from 'node:path'
import { n } from '../../lib/figures.ts'
import { HttpClient, requestText } from '../../lib/http.ts'
import { type Usage, usageOf } from '../processor.ts'
import { createSale, type Stage } from '../stage.ts'
import { type Bench, printCells } from '../table.ts'

const CROWDS = [1_000, 10_000, 100_000, 1_000_000]
const JOINING = 64

export async function growth(stage: Stage, { crowd }: Bench) {
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
  return real
}

/** The number of real visitors who join a real sale grows. */
async function realCosts(stage: Stage, crowd: number) {
  const { edge, dataDir } = stage.system
  const sale = await createSale(stage, { stock: 100, rate: 0.01, opensInMs: 3_600_000 })
  const client = new HttpClient({ url: edge.url, connections: JOINING })
  const text = requestText('POST', `/sales/${sale}/queue`, client.host, ['accept: application/json'])
  const used = (): Usage => usageOf([[edge.pid]])[0] ?? { cpuSeconds: 0, bytes: 0 }
  const rows = []
  let joined = 0
  try {
    for (const visitors of [...CROWDS.filter((size) => size < crowd), crowd]) {
      const before = used()
      const more = visitors - joined
      await joinAll(client, text, more)
      joined = visitors
      const after = used()
      rows.push({
        visitors,
        joinCpuMicros: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / more,
        memoryBytes: after.bytes,
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
