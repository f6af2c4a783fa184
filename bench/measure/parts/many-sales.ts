/**
 * Measures whether other sales make a sale slower: checkouts of one sale in an empty ledger, then next to a hundred
 * open sales with a million units and twenty thousand ended ones, and then of all hundred at once.
 */
import postgres from 'postgres'
import { markLongOver } from '../../../origin/sales/sale-queries.ts'
import { n } from '../../lib/figures.ts'
import { closedLoop, contest, nowMeasuring } from '../load.ts'
import { row, type Table } from '../rows.ts'
import { atOrigin, checkoutsOf, createSale, durableCheckouts, endSale, type Stage, tokensFor } from '../stage.ts'
import type { Bench } from '../table.ts'

const BUYERS = 256
const SALES = 100
const UNITS = 1_000_000
const ENDED = 20_000
/** The number of sales that are created at once. */
const AT_ONCE = 10
const AIM = { ratio: 0.95 }

export async function* manySales(stage: Stage, { rounds, seconds }: Bench): AsyncGenerator<Table> {
  const one = () => durableCheckouts(stage, seconds, BUYERS)
  const { alone } = await contest(rounds, { alone: one })
  nowMeasuring(`  ${n(SALES)} sales, and ${n(ENDED)} that have ended`)
  await endedSales(stage)
  const sales: string[] = []
  for (let at = 0; at < SALES; at += AT_ONCE)
    sales.push(
      ...(await Promise.all(Array.from({ length: AT_ONCE }, () => createSale(stage, { stock: UNITS / SALES })))),
    )
  try {
    const { beside, all } = await contest(rounds, { beside: one, all: () => ofAll(stage, sales, seconds) })
    yield {
      title: `Checkouts of ${BUYERS} buyers beside ${SALES} open sales, ${n(UNITS)} units and ${n(ENDED)} ended sales`,
      against: 'of alone',
      rows: [
        row('one sale in an empty ledger', alone, null),
        row('one sale beside the others', beside, alone, AIM),
        row(`all ${SALES} at once`, all, alone, AIM),
      ],
    }
  } finally {
    for (const sale of sales) await endSale(stage, sale)
  }
}

async function endedSales({ system }: Stage): Promise<void> {
  const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  await sql`
    insert into sales (sale_id, name, opens_at, ends_at, hold_seconds, limit_per_visitor, rate_per_second,
      oversell_policy)
    select 'ended-' || i, 'Ended', now() - interval '9 days', now() - interval '8 days', 60, 1, 1, 'alarm'
    from generate_series(1, ${ENDED}::int) i`
  await sql`
    insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, sold)
    select sale_id, 'unit', 0, 'Unit', 4900, 'EUR', 50, 50 from sales where starts_with(sale_id, 'ended-')`
  await markLongOver(sql)
  await sql.end({ timeout: 2 })
}

/** The buyers take turns at the sales. */
async function ofAll(stage: Stage, sales: readonly string[], seconds: number) {
  const tokens = tokensFor(stage, sales[0] ?? '', seconds, { buyers: BUYERS }).length / sales.length
  const each = sales.map((sale) => checkoutsOf(stage, sale, stage.mint(sale, Math.ceil(tokens))))
  let turn = 0
  return closedLoop(
    atOrigin(stage, seconds, (client) => each[turn++ % each.length]?.(client) ?? null, 201),
    BUYERS,
  )
}
