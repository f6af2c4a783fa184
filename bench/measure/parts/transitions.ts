/**
 * Measures transitions of orders at the same time as checkouts. Each transition is one order in its own transaction,
 * which shows how long one commit makes the next wait. The orders alternate between two statuses that both hold their
 * units, so that no lock of a product is involved.
 */
import { connect, type Sql } from '../../../origin/ledger/connection.ts'
import { moveOrders } from '../../../origin/ledger/order-statements.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { closedLoop, contest, type Measured, medianOf, openLoop } from '../load.ts'
import { cpuSeconds } from '../processor.ts'
import { row, type Table } from '../rows.ts'
import { atOrigin, checkoutsOf, createSale, endSale, type Stage, storesOf } from '../stage.ts'
import type { Bench } from '../table.ts'

const CHECKOUTS_PER_SECOND = 2_000
const CONNECTIONS = 10
const ORDERS_OF_CONNECTION = 50
const SPARE = 1.1

export async function* transitions(stage: Stage, { rounds, seconds }: Bench): AsyncGenerator<Table> {
  const sql = connect(stage.system.databaseUrl, CONNECTIONS)
  const sale = await createSale(stage)
  try {
    const orders = await makeOrders(stage, sql, sale)
    const besides: Measured[] = []
    const { alone, beside } = await contest(rounds, {
      alone: () => turn(stage, sql, orders, seconds),
      beside: async () => {
        const tokens = stage.mint(sale, Math.ceil(CHECKOUTS_PER_SECOND * seconds * SPARE))
        const checkouts = openLoop(
          atOrigin(stage, seconds, checkoutsOf(stage, sale, tokens), 201),
          CHECKOUTS_PER_SECOND,
        )
        const turned = await turn(stage, sql, orders, seconds)
        besides.push(await checkouts)
        return turned
      },
    })
    yield {
      title:
        `Transitions of single orders, ${CONNECTIONS} at a time, beside ${n(CHECKOUTS_PER_SECOND)} ` +
        'checkouts a second',
      against: 'of alone',
      rows: [
        row('transition, alone', alone, null),
        row('transition, beside checkouts', beside, alone),
        row('durable checkout beside them', medianOf(besides.slice(1), besides), null),
      ],
    }
  } finally {
    await endSale(stage, sale)
    await sql.end({ timeout: 2 })
  }
}

async function makeOrders(stage: Stage, sql: Sql, sale: string): Promise<string[]> {
  const tokens = stage.mint(sale, CONNECTIONS * ORDERS_OF_CONNECTION)
  await closedLoop(atOrigin(stage, 60, checkoutsOf(stage, sale, tokens), 201), CONNECTIONS)
  const rows = await sql<{ order_id: string }[]>`select order_id from orders where sale_id = ${sale}`
  return rows.map(({ order_id }) => order_id)
}

/** Each connection changes its own orders, one after the other. */
async function turn(stage: Stage, sql: Sql, orders: readonly string[], seconds: number): Promise<Measured> {
  const histogram = new Histogram()
  const pids = storesOf(stage)
  const [cpuBefore, beganMs] = [cpuSeconds(pids), performance.now()]
  const untilMs = beganMs + seconds * 1000
  let wrong = 0
  const move = async (order: string, from: 'reserved' | 'paying', to: 'reserved' | 'paying') => {
    const sentMs = performance.now()
    const moved = await moveOrders(sql, [order], { from: [from], to })
    if (moved.length === 0) wrong++
    histogram.add(performance.now() - sentMs)
  }
  const moveOwn = async (_: unknown, connection: number) => {
    for (let i = connection; performance.now() < untilMs; i = (i + CONNECTIONS) % orders.length) {
      const order = orders[i] ?? ''
      await move(order, 'reserved', 'paying')
      await move(order, 'paying', 'reserved')
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, moveOwn))
  const ms = histogram.summary()
  return {
    perSecond: (ms.count * 1000) / (performance.now() - beganMs),
    ms,
    cpuMicros: ((cpuSeconds(pids) - cpuBefore) * 1e6) / Math.max(1, ms.count),
    clientCpu: 0,
    wrong,
    why: `${wrong} orders were not moved`,
  }
}
