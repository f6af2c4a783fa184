/**
 * The origin: the durable checkout (token verified, reserved in Redis, committed in Postgres, then answered), the
 * sold-out answer and the look at an order, each against a bare Hono endpoint with the same request, beside one that
 * checks the token and does nothing else: whatever is promised for it, no answer to a new token can be faster. And the
 * reserve script alone, against what redis-benchmark gets out of the same Redis.
 */
import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { Gate } from '../../origin/stock/gate.ts'
import { defineScripts, type Store } from '../../origin/stock/scripts.ts'
import { Histogram } from '../lib/histogram.ts'
import { HttpClient, requestText } from '../lib/http.ts'
import { orderIn } from '../lib/responses.ts'
import { closedLoop, contest, type Measured, median, openLoop, withWrongOf } from './load.ts'
import { createSale, endSale, type Server, type Stage, startAlternative, startServer } from './stage.ts'
import type { Bench, Row, Table } from './table.ts'

/** More tokens than can be used up in a run, warming included; each is used once, as in a sale. */
const TOKENS_PER_SECOND = 22_000
const SOLD_OUT_TOKENS_PER_SECOND = 36_000
const STOCK = 10_000_000
const ORDERS = 300
const OPEN_LOOP_PER_SECOND = 2_000
const OPEN_LOOP_SECONDS = 5
const CLIENTS = 256

export async function* againstOrigin(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const bare = await startServer('bare-hono')
  try {
    const checking = await startAlternative(stage, 'nothing')
    try {
      yield await checkouts(stage, bench, bare, checking)
      yield await answers(stage, bench, bare, checking)
    } finally {
      await checking.stop()
    }
    yield await reserveScript(stage, bench)
  } finally {
    await bare.stop()
  }
}

async function checkouts(stage: Stage, bench: Bench, bare: Server, checking: Server): Promise<Table> {
  const { originUrl } = stage.system
  const { rounds, seconds } = bench
  const rows: Row[] = []
  for (const buyers of bench.buyers) {
    const contestants = await contest(rounds, {
      bare: () => closedLoop({ ...bareCheckout(bare, seconds), pids: [bare.pid] }, buyers),
      checking: () => newTokens(stage, checking, seconds, buyers),
      ours: () => durableCheckouts(stage, seconds, buyers),
    })
    rows.push(
      row(`bare endpoint, ${buyers} buyers`, contestants.bare, null),
      row('  that checks their tokens', contestants.checking, contestants.bare),
      row(
        `durable checkout, ${buyers} buyers`,
        contestants.ours,
        contestants.bare,
        buyers === 256 ? { perSecond: 12_000 } : null,
      ),
    )
  }
  const paced: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    const sale = await createSale(stage, { stock: STOCK })
    const tokens = stage.mint.many(sale, OPEN_LOOP_PER_SECOND * OPEN_LOOP_SECONDS + 10)
    paced.push(
      await openLoop(
        {
          url: originUrl,
          pids: pidsOf(stage),
          seconds: OPEN_LOOP_SECONDS,
          next: checkoutsOf(sale, tokens),
          right: (a) => a.status === 201,
        },
        OPEN_LOOP_PER_SECOND,
      ),
    )
    await endSale(stage, sale)
  }
  const middle = [...paced].sort((a, b) => a.ms.p99 - b.ms.p99)[paced.length >> 1]
  if (middle)
    rows.push(
      row(`durable checkout, open loop at ${OPEN_LOOP_PER_SECOND}/s`, withWrongOf(middle, paced), null, {
        p99Ms: 25,
      }),
    )
  return { title: 'The origin: durable checkouts', against: 'of bare', rows }
}

async function answers(
  stage: Stage,
  { rounds, seconds }: Bench,
  bare: Server,
  checking: Server,
): Promise<Table> {
  const { originUrl } = stage.system
  const over = await createSale(stage, { stock: 0 })
  const live = await createSale(stage, { stock: STOCK })
  const orders = await reserve(originUrl, live, stage.mint.many(live, ORDERS))
  let turn = 0
  const results = await contest(rounds, {
    bare: () => closedLoop({ ...bareCheckout(bare, seconds), pids: [bare.pid] }, CLIENTS),
    checking: () => newTokens(stage, checking, seconds, CLIENTS),
    soldOut: () => {
      const tokens = stage.mint.many(over, Math.ceil(seconds * 1.25 * SOLD_OUT_TOKENS_PER_SECOND))
      return closedLoop(
        {
          url: originUrl,
          pids: pidsOf(stage),
          seconds,
          next: checkoutsOf(over, tokens),
          right: (a) => a.status === 410,
        },
        CLIENTS,
      )
    },
    soldOutAgain: () => {
      const tokens = stage.mint.many(over, 2_000)
      let next = 0
      return closedLoop(
        {
          url: originUrl,
          pids: pidsOf(stage),
          seconds,
          next: ({ host }) => checkoutText(host, over, tokens[next % tokens.length] ?? '', next++),
          right: (a) => a.status === 410,
        },
        CLIENTS,
      )
    },
    bareLookup: () =>
      closedLoop(
        {
          url: bare.url,
          pids: [bare.pid],
          seconds,
          next: ({ host }) => requestText('GET', '/orders/01', host),
          right: (a) => a.status === 200,
        },
        CLIENTS,
      ),
    lookup: () =>
      closedLoop(
        {
          url: originUrl,
          pids: pidsOf(stage),
          seconds,
          next: ({ host }) => {
            const one = orders[turn++ % orders.length]
            return requestText('GET', `/orders/${one?.order}`, host, [`authorization: Bearer ${one?.token}`])
          },
          right: (a) => a.status === 200,
        },
        CLIENTS,
      ),
  })
  await endSale(stage, live)
  return {
    title: `The origin: other answers, ${CLIENTS} clients`,
    against: 'of bare',
    rows: [
      row('bare endpoint, POST', results.bare, null),
      row('  that checks new tokens', results.checking, results.bare),
      row('sold out, first call of each', results.soldOut, results.bare, { perSecond: 30_000 }),
      row('sold out, called again', results.soldOutAgain, results.bare),
      row('bare endpoint, GET', results.bareLookup, null),
      row('look at an order', results.lookup, results.bareLookup),
    ],
  }
}

/** The script as the origin calls it, many callers at a time, with nothing around it. */
async function reserveScript(stage: Stage, { rounds, seconds }: Bench): Promise<Table> {
  const { redisUrl } = stage.system
  const redis = defineScripts(new Redis(redisUrl))
  const ours: Measured[] = []
  const ceilings: Record<string, number[]> = {}
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [name, perSecond] of Object.entries(await redisCeilings(redisUrl)))
        ceilings[name] = [...(ceilings[name] ?? []), perSecond]
      ours.push(await reserveAlone(redis, `bench-gate-${randomUUIDv7()}`, seconds))
    }
  } finally {
    redis.disconnect()
  }
  const sorted = [...ours].sort((a, b) => a.perSecond - b.perSecond)
  const middle = sorted[sorted.length >> 1]
  const rows: Row[] = Object.entries(ceilings).map(([name, list]) => row(name, flat(median(list)), null))
  const [ceiling] = rows
  if (middle)
    rows.push(row('our reserve script, by the batch', withWrongOf(middle, ours), ceiling?.measured ?? null))
  return {
    title: "The reserve script alone, against redis-benchmark's ceiling",
    against: 'of first',
    rows,
  }
}

async function reserveAlone(redis: Store, sale: string, seconds: number): Promise<Measured> {
  const gate = new Gate(redis, sale, 'unit')
  await (await gate.fence()).open({ available: STOCK, held: 0 })
  const histogram = new Histogram()
  const beganMs = performance.now()
  const untilMs = beganMs + seconds * 1000
  let reserved = 0
  let wrong = 0
  let why = ''
  const one = async () => {
    while (performance.now() < untilMs) {
      const order = randomUUIDv7()
      const visitor = `bench-${order}`
      const sentMs = performance.now()
      const call = { order, visitor, key: order, hash: 'h', quantity: 1, sale, product: 'unit', number: 1 }
      const answer = await gate.reserve({ ...call, method: null }, { holdMs: 60_000, limit: 1 })
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
async function redisCeilings(redisUrl: string): Promise<Record<string, number>> {
  const { hostname, port, password } = new URL(redisUrl)
  const ask = async (...options: string[]) => {
    const { stdout } = await promisify(execFile)(
      'redis-benchmark',
      [
        ...['-h', hostname, '-p', port || '6379', '--csv', '-r', '100000', ...options],
        ...(password ? ['-a', password] : []),
      ],
      { timeout: 60_000 },
    )
    return Number(/^"[^"]*(?:"[^"]*)*?","([\d.]+)"/m.exec(stdout.split('\n').at(-2) ?? '')?.[1] ?? Number.NaN)
  }
  try {
    return {
      'INCR by redis-benchmark, 64 in a pipeline': await ask('-t', 'incr', '-n', '400000', '-P', '64'),
      'INCR by redis-benchmark, one by one': await ask('-t', 'incr', '-n', '60000'),
    }
  } catch {
    return {}
  }
}

/** Everything that works on a checkout: the origin, and the stores behind it. */
export function pidsOf({ system }: Stage): number[] {
  return [system.origin, system.redis, system.postgres].flatMap((part) => (part ? [part.pid] : []))
}

// -- Pieces ------------------------------------------------------------------------------------------------------------

export const checkoutText = (host: string, sale: string, token: string, key: number | string) =>
  requestText(
    'POST',
    `/sales/${sale}/checkout`,
    host,
    ['accept: application/json', `authorization: Bearer ${token}`, `idempotency-key: bench-${key}`],
    '{"quantity":1}',
  )

/** Whole durable checkouts by so many buyers at once, on a sale of its own. */
export async function durableCheckouts(stage: Stage, seconds: number, buyers: number): Promise<Measured> {
  const sale = await createSale(stage, { stock: STOCK })
  const tokens = stage.mint.many(sale, tokensFor(seconds, buyers))
  const measured = await closedLoop(
    {
      url: stage.system.originUrl,
      pids: pidsOf(stage),
      seconds,
      next: checkoutsOf(sale, tokens),
      right: (a) => a.status === 201,
    },
    buyers,
  )
  await endSale(stage, sale)
  return measured
}

/** Checkouts of buyers who were never seen before; none when the tokens are used up. */
export function checkoutsOf(sale: string, tokens: readonly string[]): (client: HttpClient) => string | null {
  let next = 0
  return ({ host }) => {
    const token = tokens[next]
    return token === undefined ? null : checkoutText(host, sale, token, next++)
  }
}

/** A server that does nothing but check a token that it has never seen, and answer. */
function newTokens(stage: Stage, { url, pid }: Server, seconds: number, buyers: number): Promise<Measured> {
  const tokens = stage.mint.many('bench', tokensFor(seconds, buyers))
  const next = checkoutsOf('bench', tokens)
  return closedLoop({ url, pids: [pid], seconds, next, right: (a) => a.status === 201 }, buyers)
}

const tokensFor = (seconds: number, buyers: number) =>
  Math.ceil(seconds * 1.25 * Math.min(TOKENS_PER_SECOND, buyers * 4_000))

function bareCheckout(bare: Server, seconds: number) {
  // The same bytes but for what the token says.
  const token = 'x'.repeat(420)
  let text: string | undefined
  return {
    url: bare.url,
    seconds,
    next: ({ host }: HttpClient) => {
      text ??= checkoutText(host, 'bench', token, 1)
      return text
    },
    right: (a: { status: number }) => a.status === 201,
  }
}

/** Orders of these buyers. */
async function reserve(url: string, sale: string, tokens: readonly string[]) {
  const client = new HttpClient({ url, connections: 64 })
  const orders = await Promise.all(
    tokens.map(async (token, i) => {
      const answer = await client.ask(checkoutText(client.host, sale, token, i))
      const order = orderIn(answer)?.order_id
      if (!order) throw new Error(`A checkout answered ${answer.status}: ${answer.body.slice(0, 200)}`)
      return { order, token }
    }),
  )
  client.close()
  return orders
}

export function row(what: string, measured: Measured, against: Measured | null, aim: Row['aim'] = null): Row {
  const cpu = against?.cpuMicros && measured.cpuMicros ? against.cpuMicros / measured.cpuMicros : null
  return {
    what,
    measured,
    ratio: against ? measured.perSecond / against.perSecond : null,
    cpuRatio: cpu,
    aim,
  }
}

/** A rate that somebody else measured. */
export function flat(perSecond: number): Measured {
  return {
    perSecond,
    ms: { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 },
    cpuMicros: null,
    clientCpu: 0,
    wrong: 0,
    why: '',
  }
}
