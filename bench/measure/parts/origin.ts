/**
 * Measures the origin. The durable checkout (token verified, reserved in Redis, committed in Postgres, then answered)
 * is compared with a bare Hono endpoint for the same request, and with a sketch of the same path without guarantees.
 * The sold-out response is compared with an endpoint that also checks the token. The reserve script is measured
 * alone, with redis-benchmark on the same Redis.
 */
import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import type { Server } from '../../../dev/lib/processes.ts'
import { hmacKey } from '../../../origin/lib/hmac.ts'
import { Gate } from '../../../origin/stock/gate/gate.ts'
import { defineScripts, type Store } from '../../../origin/stock/scripts.ts'
import { importKeys } from '../../../shared/keys.ts'
import { ADMISSION, readToken } from '../../../shared/tokens.ts'
import { Histogram } from '../../lib/histogram.ts'
import type { HttpClient } from '../../lib/http.ts'
import { closedLoop, contest, flat, type Measured, median, medianOf, openLoop } from '../load.ts'
import { type Aim, ahead, type Row, row, type Table } from '../rows.ts'
import { Shops, SKETCH } from '../shops.ts'
import {
  atOrigin,
  checkoutsOf,
  checkoutText,
  createSale,
  durableCheckouts,
  endSale,
  PLENTY,
  type Stage,
  startRival,
  startServer,
  tokensFor,
} from '../stage.ts'
import type { Bench } from '../table.ts'

/** The numbers exceed what a run can use up. */
const SOLD_OUT_PER_SECOND = 36_000
const RETURNING_CALLERS = 2_000
const TOKENS_READ = 20_000
const OPEN_LOOP_PER_SECOND = 2_000
const OPEN_LOOP_SECONDS = 5
const CLIENTS = 256
const PRODUCTS = 50
/** The aims of the checkout by number of buyers. */
const AIMS: Readonly<Record<number, Aim>> = {
  1: { p50Ms: 1 },
  256: { perSecond: 13_000, cpuMicros: 95 },
}
const SKETCH_AIMS: Readonly<Record<number, Aim>> = { 256: { ratio: 0.8 } }

export async function* againstOrigin(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const bare = await startServer('bare-hono')
  try {
    yield* checkouts(stage, bench, bare)
    yield await manyProducts(stage, bench)
    yield await atFixedRate(stage, bench)
    yield await soldOut(stage, bench, bare)
    yield await reserveScript(stage, bench)
  } finally {
    await bare.stop()
  }
}

async function* checkouts(stage: Stage, bench: Bench, bare: Server): AsyncGenerator<Table> {
  const { rounds, seconds } = bench
  const shops = new Shops(stage)
  const besideSketch: Row[] = []
  try {
    await shops.open(['sketch'])
    const rows: Row[] = []
    for (const buyers of bench.buyers) {
      const results = await contest(rounds, {
        bare: () => bareCheckouts(stage, bare, seconds, buyers),
        ours: () => durableCheckouts(stage, seconds, buyers),
        sketch: () => shops.checkouts('sketch', seconds, buyers),
      })
      const { ours, sketch } = results
      const people = buyers === 1 ? '1 buyer' : `${buyers} buyers`
      rows.push(
        row(`bare endpoint, ${people}`, results.bare, null),
        row(`durable checkout, ${people}`, ours, results.bare, AIMS[buyers], { what: SKETCH, measured: sketch }),
      )
      besideSketch.push(ahead(people, sketch, ours, SKETCH_AIMS[buyers]))
    }
    yield { title: 'The origin, of a bare endpoint', against: 'of bare', rows }
  } finally {
    await shops.close()
  }
  yield { title: `The origin, of ${SKETCH}`, against: 'ours is', rows: besideSketch }
}

/** A sale has one gate and one lock, so many products must sell as fast as one. */
async function manyProducts(stage: Stage, { rounds, seconds }: Bench): Promise<Table> {
  const another = await stage.system.addOrigin({ ROLE: 'api' })
  const { one, many, both } = await contest(rounds, {
    one: () => durableCheckouts(stage, seconds, CLIENTS),
    many: () => durableCheckouts(stage, seconds, CLIENTS, { products: PRODUCTS }),
    both: () => durableCheckouts(stage, seconds, CLIENTS, { another }),
  })
  await another.stop()
  return {
    title: `The origin, ${CLIENTS} buyers`,
    against: 'of one product',
    rows: [
      row('durable checkout, one product', one, null),
      row(`durable checkout, ${PRODUCTS} products`, many, one, { ratio: 0.95 }),
      row('durable checkout, two processes', both, one),
    ],
  }
}

async function atFixedRate(stage: Stage, { rounds }: Bench): Promise<Table> {
  const runs: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    const sale = await createSale(stage)
    const tokens = stage.mint(sale, OPEN_LOOP_PER_SECOND * OPEN_LOOP_SECONDS + 10)
    const load = atOrigin(stage, OPEN_LOOP_SECONDS, checkoutsOf(stage, sale, tokens), 201)
    runs.push(await openLoop(load, OPEN_LOOP_PER_SECOND))
    await endSale(stage, sale)
  }
  const what = `durable checkout at ${OPEN_LOOP_PER_SECOND}/s`
  return { title: 'The origin, open loop', against: '', rows: [row(what, medianOf(runs), null, { p99Ms: 25 })] }
}

async function soldOut(stage: Stage, { rounds, seconds }: Bench, bare: Server): Promise<Table> {
  const over = await createSale(stage, { stock: 0 })
  const newCallers = () => checkoutsOf(stage, over, tokensFor(stage, over, seconds, { perSecond: SOLD_OUT_PER_SECOND }))
  const check = await startRival(stage, 'alternative', 'check')
  const refuse = await startRival(stage, 'alternative', 'refuse')
  const hmac = await startRival(stage, 'bare-hono')
  const checkBy =
    ({ url, pid }: Server, right: number) =>
    () =>
      closedLoop({ url, pids: [pid], seconds, next: newCallers(), right }, CLIENTS)
  try {
    const results = await contest(rounds, {
      bare: () => bareCheckouts(stage, bare, seconds, CLIENTS),
      check: checkBy(check, 201),
      hmac: checkBy(hmac, 201),
      refuse: checkBy(refuse, 410),
      first: () => closedLoop(atOrigin(stage, seconds, newCallers(), 410), CLIENTS),
      again: () => {
        const tokens = stage.mint(over, RETURNING_CALLERS)
        let turn = 0
        const next = ({ host }: HttpClient) =>
          checkoutText(stage, host, over, tokens[turn % RETURNING_CALLERS] ?? '', turn++)
        return closedLoop(atOrigin(stage, seconds, next, 410), CLIENTS)
      },
    })
    return {
      title: `The origin, sold out, ${CLIENTS} clients`,
      against: 'ratio',
      rows: [
        row('bare endpoint, POST', results.bare, null),
        row(
          'only checks the token, of bare',
          results.check,
          results.bare,
          { ratio: 0.7 },
          { what: 'one HMAC and the claims parsed', measured: results.hmac },
        ),
        row('reading a token, alone', await tokenReading(stage, rounds), null, { cpuMicros: 8 }),
        row(
          'sold out, first call of each, of the check',
          results.first,
          results.check,
          { ratio: 0.9 },
          { what: 'the check, and a problem made beforehand', measured: results.refuse },
        ),
        row('sold out, called again, of the check', results.again, results.check),
      ],
    }
  } finally {
    for (const server of [check, refuse, hmac]) await server.stop()
  }
}

/** The cost of reading an admission in this process, as in the origin, with each token once. */
async function tokenReading({ mint, system }: Stage, rounds: number): Promise<Measured> {
  const keys = await importKeys(system.secrets.admissionKeys, hmacKey)
  const runs: Measured[] = []
  for (let round = 0; round <= rounds; round++) {
    const tokens = mint('bench', TOKENS_READ)
    const nowMs = Date.now()
    const began = process.cpuUsage()
    let wrong = 0
    for (const token of tokens) if (!(await readToken(ADMISSION, keys, token, nowMs)).ok) wrong++
    const { user, system } = process.cpuUsage(began)
    const cpuMicros = (user + system) / tokens.length
    runs.push({ ...flat(1e6 / cpuMicros), cpuMicros, wrong, why: wrong > 0 ? 'not read' : '' })
  }
  return medianOf(runs.slice(1), runs)
}

/** The script as the origin calls it, with many concurrent callers and nothing around it. */
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
  const gate = new Gate(redis, sale)
  await (await gate.fence()).open([{ product: 'unit', available: PLENTY, held: 0 }])
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
      const answer = await gate.reserve(
        { ...call, line: 'public', number: 1, method: null },
        { holdMs: 60_000, limit: 1, demand: [] },
      )
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
  const left = await redis.keys(`{${sale}}*`)
  if (left.length > 0) await redis.unlink(...left)
  return { ...flat(perSecond), ms: histogram.summary(), wrong, why }
}

/** The commands per second by redis-benchmark; empty if it is not installed. */
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

function bareCheckouts(stage: Stage, { url, pid }: Server, seconds: number, buyers: number): Promise<Measured> {
  // The request has as many bytes as a real one.
  const text = checkoutText(stage, new URL(url).host, 'bench', 'x'.repeat(384), 1)
  const next = () => text
  return closedLoop({ url, pids: [pid], seconds, next, right: 201 }, buyers)
}
