/**
 * Measures the origin. The durable checkout (token verified, reserved in Redis, committed in Postgres, then answered)
 * is compared with a bare Hono endpoint for the same request, and with a sketch of the same path without guarantees.
 * The sold-out response is compared with an endpoint that also checks the token.
 */
import type { Server } from '../../../dev/lib/processes.ts'
import type { HttpClient } from '../../lib/http.ts'
import { closedLoop, contest, type Measured, medianOf, openLoop, openLoopRequests } from '../load.ts'
import { type Aim, ahead, type Row, row, type Table } from '../rows.ts'
import { Shops, SKETCH } from '../shops.ts'
import {
  atOrigin,
  checkoutsOf,
  checkoutText,
  createSale,
  durableCheckouts,
  endSale,
  type Stage,
  startRival,
  startServer,
  tokensFor,
} from '../stage.ts'
import type { Bench } from '../table.ts'

/** The numbers exceed what a run can use up. */
const SOLD_OUT_PER_SECOND = 36_000
const RETURNING_CALLERS = 2_000
const OPEN_LOOP_PER_SECOND = 2_000
const OPEN_LOOP_SECONDS = 5
const CLIENTS = 256
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
    yield await atFixedRate(stage, bench)
    yield await soldOut(stage, bench, bare)
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

async function atFixedRate(stage: Stage, { rounds }: Bench): Promise<Table> {
  const runs: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    const sale = await createSale(stage)
    const tokens = stage.mint(sale, openLoopRequests(OPEN_LOOP_SECONDS, OPEN_LOOP_PER_SECOND))
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

function bareCheckouts(stage: Stage, { url, pid }: Server, seconds: number, buyers: number): Promise<Measured> {
  // The request has as many bytes as a real one.
  const text = checkoutText(stage, new URL(url).host, 'bench', 'x'.repeat(384), 1)
  const next = () => text
  return closedLoop({ url, pids: [pid], seconds, next, right: 201 }, buyers)
}
