/** The rehearsal as a person runs it, on an honest system and on a ledger that loses an order. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type System, startSystem } from '../../dev/system.ts'
import { ledgerDatabase } from '../../test/servers.ts'
import type { Result } from './play.ts'

const CROWD = [
  ...'--visitors 150 --stock 20 --rate 100 --spread 2 --seed 7 --hold 2'.split(' '),
  ...'--timeouts 0 --abandon 0.1 --think 0.1 --known 0.1 --bots 0.05'.split(' '),
]

let system: System
let ledger: postgres.Sql
const out = mkdtempSync(join(tmpdir(), 'flash-sale-rehearsal-'))

beforeAll(async () => {
  const database = await ledgerDatabase()
  // Longer than somebody who is held back goes without a look (6.25 s), or they might miss their turn unawares.
  system = await startSystem({ databaseUrl: database.url, edgeVars: { CLAIM_SECONDS: '8' } })
  ledger = postgres(database.url, { max: 1, onnotice: () => {} })
})

afterAll(async () => {
  await ledger?.end()
  await system?.stop()
  rmSync(out, { recursive: true, force: true })
})

/** Runs the command, and does something else to its sale while the crowd plays. */
function rehearse(name: string, meanwhile?: (sale: string) => Promise<void>) {
  return new Promise<{ status: number | null; output: string; result: Result }>((resolve, reject) => {
    const folder = join(out, name)
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('./rehearse.ts', import.meta.url)),
        ...['--edge', system.edgeUrl, '--origin', system.originUrl, '--out', folder, ...CROWD],
      ],
      {
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          ADMIN_TOKEN: system.adminToken,
          DATABASE_URL: system.databaseUrl,
        },
      },
    )
    let output = ''
    let begun = false
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8')
        const sale = /sale (rehearsal-[0-9a-f]+)/.exec(output)?.[1]
        if (begun || sale === undefined) return
        begun = true
        meanwhile?.(sale).catch(reject)
      })
    child.once('exit', (status) => {
      try {
        resolve({ status, output, result: JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) })
      } catch {
        reject(new Error(output))
      }
    })
  })
}

// One after the other: a charge whose order is lost is one of nobody's, and so of whoever sells at that time.
test('a rehearsal of an honest system is good, with a report and a file for machines', async () => {
  const { status, output, result } = await rehearse('honest')
  expect(status, output).toBe(0)
  expect(output).toContain('20 sold of 20')
  expect(result.good).toBe(true)
  expect(result.ends.bought).toBe(20)
  expect(Object.values(result.ends).reduce((all, n) => all + n, 0)).toBe(150)
  const html = readFileSync(join(out, 'honest', 'report.html'), 'utf8')
  expect(html).toContain('<svg')
  expect(html).not.toMatch(/NaN|undefined|<script/)
})

test('a rehearsal on a ledger that loses an order is not good, and says what is missing', async () => {
  const loseOne = async (sale: string) => {
    const lost = () => ledger`
      delete from orders where order_id in (
        select order_id from orders where sale_id = ${sale} and status = 'confirmed' limit 1)
      returning order_id`
    await expect.poll(lost).toHaveLength(1)
  }
  const { status, output, result } = await rehearse('lying', loseOne)
  expect(status, output).toBe(1)
  expect(output).toContain('Not good.')
  const failed = result.checks.filter((check) => check.holds === false).map((check) => check.what)
  expect(failed).toContain('every order in a response is in the ledger')
  // The order is gone, and its money was taken.
  expect(failed).toContain('charged once, and only for sold orders')
})
