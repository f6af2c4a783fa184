/**
 * The origin: the durable checkout (token verified, reserved in Redis, committed in Postgres, then answered), compared
 * with a bare Hono endpoint for the same request; the sold-out response, with an endpoint that also checks the token; and
 * the reserve script alone, with redis-benchmark on the same Redis.
 */
import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { Gate } from '../../origin/stock/gate.ts'
import { defineScripts, type Store } from '../../origin/stock/scripts.ts'
import { Histogram } from '../lib/histogram.ts'
import type { HttpClient } from '../lib/http.ts'
import { closedLoop, contest, flat, type Measured, median, medianOf, openLoop } from './load.ts'
import {
  atOrigin,
  checkoutsOf,
  checkoutText,
  createSale,
  durableCheckouts,
  endSale,
  PLENTY,
  type Server,
  type Stage,
  startAlternative,
  startServer,
  tokensFor,
} from './stage.ts'
import { type Bench, type Row, row, type Table } from './table.ts'

/** More than a run can use up. */
const SOLD_OUT_PER_SECOND = 36_000
const RETURNING_CALLERS = 2_000
const OPEN_LOOP_PER_SECOND = 2_000
const OPEN_LOOP_SECONDS = 5
const CLIENTS = 256
const AIMED_AT_BUYERS = 256

export async function* againstOrigin(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const bare = await startServer('bare-hono')
  try {
    yield await checkouts(stage, bench, bare)
    yield await soldOut(stage, bench, bare)
    yield await reserveScript(stage, bench)
  } finally {
    await bare.stop()
  }
}

async function checkouts(stage: Stage, bench: Bench, bare: Server): Promise<Table> {
  const { rounds, seconds } = bench
  const rows: Row[] = []
  for (const buyers of bench.buyers) {
    const results = await contest(rounds, {
      bare: () => bareCheckouts(bare, seconds, buyers),
      ours: () => durableCheckouts(stage, seconds, buyers),
    })
    const aim = buyers === AIMED_AT_BUYERS ? { perSecond: 12_000 } : null
    rows.push(
      row(`bare endpoint, ${buyers} buyers`, results.bare, null),
      row(`durable checkout, ${buyers} buyers`, results.ours, results.bare, aim),
    )
  }
  const paced: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    const sale = await createSale(stage)
    const tokens = stage.mint(sale, OPEN_LOOP_PER_SECOND * OPEN_LOOP_SECONDS + 10)
    const load = atOrigin(stage, OPEN_LOOP_SECONDS, checkoutsOf(sale, tokens), 201)
    paced.push(await openLoop(load, OPEN_LOOP_PER_SECOND))
    await endSale(stage, sale)
  }
  const title = `durable checkout, open loop at ${OPEN_LOOP_PER_SECOND}/s`
  rows.push(row(title, medianOf(paced), null, { p99Ms: 25 }))
  return { title: 'The origin: durable checkouts', against: 'of bare', rows }
}

async function soldOut(stage: Stage, { rounds, seconds }: Bench, bare: Server): Promise<Table> {
  const over = await createSale(stage, { stock: 0 })
  const newCallers = () => checkoutsOf(over, tokensFor(stage, over, seconds, { perSecond: SOLD_OUT_PER_SECOND }))
  const checking = await startAlternative(stage, 'nothing')
  try {
    const results = await contest(rounds, {
      bare: () => bareCheckouts(bare, seconds, CLIENTS),
      checking: () =>
        closedLoop({ url: checking.url, pids: [checking.pid], seconds, next: newCallers(), right: 201 }, CLIENTS),
      first: () => closedLoop(atOrigin(stage, seconds, newCallers(), 410), CLIENTS),
      again: () => {
        const tokens = stage.mint(over, RETURNING_CALLERS)
        let turn = 0
        const next = ({ host }: HttpClient) => checkoutText(host, over, tokens[turn % RETURNING_CALLERS] ?? '', turn++)
        return closedLoop(atOrigin(stage, seconds, next, 410), CLIENTS)
      },
    })
    return {
      title: `The origin: sold out, ${CLIENTS} clients`,
      against: 'ratio',
      rows: [
        row('bare endpoint, POST', results.bare, null),
        row('only checks the token, of bare', results.checking, results.bare, { ratio: 0.7 }),
        row('sold out, first call of each, of the check', results.first, results.checking, { ratio: 0.9 }),
        row('sold out, called again, of the check', results.again, results.checking),
      ],
    }
  } finally {
    await checking.stop()
  }
}

/** The script as the origin calls it, many callers at a time, with nothing around it. */
async function reserveScript(stage: Stage, { rounds, seconds }: Bench): Promise<Table> {
  const { redisUrl } = stage.system
  const redis = defineScripts(new Redis(redisUrl))
  const ours: Measured[] = []
  const ceilings = new Map<string, number[]>()
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [name, perSecond] of await redisCeilings(redisUrl))
        ceilings.set(name, [...(ceilings.get(name) ?? []), perSecond])
      ours.push(await reserveAlone(redis, `bench-gate-${randomUUIDv7()}`, seconds))
    }
  } finally {
    redis.disconnect()
  }
  const rows = [...ceilings].map(([name, list]) => row(name, flat(median(list)), null))
  return {
    title: "The reserve script alone, against redis-benchmark's ceiling",
    against: 'of first',
    rows: [...rows, row('our reserve script, by the batch', medianOf(ours), rows[0]?.measured ?? null)],
  }
}

async function reserveAlone(redis: Store, sale: string, seconds: number): Promise<Measured> {
  const gate = new Gate(redis, sale, 'unit')
  await (await gate.fence()).open({ available: PLENTY, held: 0 })
  const histogram = new Histogram()
  const beganMs = performance.now()
  const untilMs = beganMs + seconds * 1000
  let reserved = 0
  let wrong = 0
  let why = ''
  const one = async () => {
    while (performance.now() < untilMs) {
      const order = randomUUIDv7()
      const sentMs = performance.now()
      const call = {
        order,
        visitor: `bench-${order}`,
        key: order,
        hash: 'h',
        quantity: 1,
        sale,
        product: 'unit',
      }
      const answer = await gate.reserve({ ...call, number: 1, method: null }, { holdMs: 60_000, limit: 1 })
      if (answer.verdict === 'reserved') reserved++
      else {
        wrong++
        why ||= answer.verdict
      }
      histogram.add(performance.now() - sentMs)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, one))
  const perSecond = reserved / ((performance.now() - beganMs) / 1000)
  const left = await redis.keys(`{${sale}:unit:0}*`)
  if (left.length > 0) await redis.unlink(...left)
  return { ...flat(perSecond), ms: histogram.summary(), wrong, why }
}

/** Commands a second by redis-benchmark; none where it is not installed. */
async function redisCeilings(redisUrl: string): Promise<[name: string, perSecond: number][]> {
  const ask = async (...options: string[]) => {
    const args = ['-u', redisUrl, '--csv', '-r', '100000', '-t', 'incr', ...options]
    const { stdout } = await promisify(execFile)('redis-benchmark', args, { timeout: 60_000 })
    return Number(/"INCR","([\d.]+)"/.exec(stdout)?.[1])
  }
  try {
    return [
      ['INCR by redis-benchmark, 64 in a pipeline', await ask('-n', '400000', '-P', '64')],
      ['INCR by redis-benchmark, one by one', await ask('-n', '60000')],
    ]
  } catch {
    return []
  }
}

function bareCheckouts({ url, pid }: Server, seconds: number, buyers: number): Promise<Measured> {
  // As many bytes as ours.
  const token = 'x'.repeat(384)
  let text: string | undefined
  const next = ({ host }: HttpClient) => {
    text ??= checkoutText(host, 'bench', token, 1)
    return text
  }
  return closedLoop({ url, pids: [pid], seconds, next, right: 201 }, buyers)
}
