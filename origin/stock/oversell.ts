/**
 * The ledger against itself: its counters must be the sum of its orders, and that must not be more than there is. The
 * transactions of this system keep it so; a restored backup, a repair by hand or a fault of ours might not. What is put
 * right is put right against the version of the row that was counted, so that nothing that happens meanwhile is lost.
 */

import type { Logger } from 'pino'
import type { OversellPolicy } from '../../shared/api/operator.ts'
import { HELD, SOLD } from '../../shared/order-status.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { audit, close, note } from '../ledger/findings.ts'
import type { Refund } from '../ledger/payments.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { PaymentJobs } from '../payments/jobs.ts'
import type { Sales } from '../sales/sales.ts'

interface Deps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'get'>
  readonly payments: { readonly jobs: Pick<PaymentJobs, 'addRefunds'> }
  readonly metrics: Pick<Metrics, 'oversold' | 'findings' | 'orders'>
  readonly log: Logger
}

/** Above this share of the total a person decides, whatever the policy: something larger must be wrong. */
const DECIDE_ALONE_UP_TO = 0.05
/** The row may change while its orders are counted; on a quiet moment one count is enough. */
const ATTEMPTS = 5

interface Count {
  readonly version: number
  readonly total: number
  readonly held: number
  readonly sold: number
  /** What the orders add up to. */
  readonly orders: { readonly held: number; readonly sold: number }
}

export interface Recount {
  readonly found: 'ok' | 'miscounted' | 'oversold'
  /** Units by which the counters were wrong, or by which more live than there are. */
  readonly units: number
  readonly healed: boolean
  /** What was done, or is waited for. */
  readonly outcome?: string
}

const OK: Recount = { found: 'ok', units: 0, healed: false }

/** One statement, one snapshot: orders and counters change in the same transactions. */
export async function count(sql: Queryable, sale: string, product: string): Promise<Count | undefined> {
  const [row] = await sql<(Omit<Count, 'orders'> & { orders_held: number; orders_sold: number })[]>`
    select p.version, p.total, p.held, p.sold, o.held as orders_held, o.sold as orders_sold
    from products p, lateral (
      select coalesce(sum(quantity) filter (where status in ${sql(HELD)}), 0)::int as held,
             coalesce(sum(quantity) filter (where status in ${sql(SOLD)}), 0)::int as sold
      from orders o where o.sale_id = p.sale_id and o.product_id = p.product_id) o
    where p.sale_id = ${sale} and p.product_id = ${product}`
  if (!row) return undefined
  const { orders_held, orders_sold, ...counters } = row
  return { ...counters, orders: { held: orders_held, sold: orders_sold } }
}

/**
 * Counts the orders of a product and puts its row right. `decided` is an operator's decision about an oversell, which
 * goes before the sale's policy.
 */
export async function recount(
  deps: Deps,
  sale: string,
  product: string,
  decided?: OversellPolicy,
): Promise<Recount> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const seen = await count(deps.sql, sale, product)
    if (!seen) return OK
    const excess = seen.orders.held + seen.orders.sold - seen.total
    deps.metrics.oversold.set({ sale, product }, Math.max(0, excess))
    if (excess > 0) return oversold(deps, sale, product, seen, excess, decided)
    // Closed only once the row is right: as long as it is open, the ledger counts the orders before it sells.
    const noLonger = () => close(deps.sql, sale, product, 'oversold', 'no longer so')
    if (seen.held === seen.orders.held && seen.sold === seen.orders.sold) {
      await noLonger()
      return OK
    }
    const units = seen.held + seen.sold - seen.orders.held - seen.orders.sold
    if (await correct(deps, sale, product, seen, seen.orders, 'counters set to the sum of the orders')) {
      await noLonger()
      deps.log.error({ sale, product, counters: seen }, 'the counters were not the sum of the orders')
      return { found: 'miscounted', units, healed: true, outcome: 'counters set to the sum of the orders' }
    }
  }
  // So busy that no count was still true at its end: the next round will find a quieter moment.
  return OK
}

/** Sets the counters, if the row is still as it was counted. */
function correct(
  deps: Deps,
  sale: string,
  product: string,
  seen: Count,
  to: { held: number; sold: number },
  action: string,
): Promise<boolean> {
  return deps.sql.begin(async (tx) => {
    const { count: changed } = await tx`
      update products set held = ${to.held}, sold = ${to.sold}
      where sale_id = ${sale} and product_id = ${product} and version = ${seen.version}`
    if (changed === 0) return false
    const about = { sale, product, kind: 'miscounted' } as const
    const units = seen.held + seen.sold - to.held - to.sold
    await note(tx, { ...about, units, detail: { counters: seen } })
    await close(tx, sale, product, 'miscounted', action)
    const before = { held: seen.held, sold: seen.sold }
    await audit(tx, [{ actor: 'reconciler', action, sale, product, before, after: to }])
    deps.metrics.findings.inc({ sale, kind: 'miscounted' })
    return true
  })
}

async function oversold(
  deps: Deps,
  sale: string,
  product: string,
  seen: Count,
  excess: number,
  decided: OversellPolicy | undefined,
): Promise<Recount> {
  const configured = deps.sales.get(sale)?.oversell_policy ?? 'alarm'
  const tooMany = excess > seen.total * DECIDE_ALONE_UP_TO
  const policy = decided ?? (tooMany ? 'alarm' : configured)
  const waitsFor =
    policy !== 'alarm'
      ? undefined
      : configured === 'alarm'
        ? 'policy is to alarm'
        : 'too many for the policy alone'
  deps.log.error({ sale, product, excess, total: seen.total, policy }, 'more was sold than there is')
  deps.metrics.findings.inc({ sale, kind: 'oversold' })
  const detail = {
    total: seen.total,
    orders: seen.orders,
    policy,
    ...(waitsFor && { waits_for_a_person: waitsFor }),
  }
  await note(deps.sql, { sale, product, kind: 'oversold', units: excess, detail })
  // Whatever else happens: nothing more may be sold. The row says so until the next order ends; after that it is the
  // finding, by which record_batch knows that it must count.
  const sold = Math.min(seen.orders.sold, seen.total)
  const full = { sold, held: seen.total - sold }
  if (seen.held + seen.sold < seen.total)
    await correct(deps, sale, product, seen, full, 'closed, being oversold')
  if (policy === 'alarm')
    return { found: 'oversold', units: excess, healed: false, outcome: `waiting: ${waitsFor}` }
  const actor = decided ? 'operator' : 'reconciler'
  const healed =
    policy === 'cancel_latest'
      ? await cancelLatest(deps, sale, product, actor)
      : await fulfilFromBuffer(deps, sale, product, actor)
  if (healed) deps.metrics.oversold.set({ sale, product }, 0)
  return { found: 'oversold', units: excess, healed, outcome: policy }
}

/** The row and its orders, locked in the order in which everyone takes them, and counted. */
async function lockedCount(tx: Queryable, sale: string, product: string): Promise<Count> {
  await tx`select 1 from sales where sale_id = ${sale} for no key update`
  await tx`select 1 from products where sale_id = ${sale} and product_id = ${product} for no key update`
  const seen = await count(tx, sale, product)
  if (!seen) throw new Error(`no product ${product} in sale ${sale}`)
  return seen
}

/** What is fulfilled stays so. */
const CANCELLABLE = [...HELD, 'confirmed'] as const

/** Cancels who came last until the rest can be served, and gives their money back. */
async function cancelLatest(deps: Deps, sale: string, product: string, actor: string): Promise<boolean> {
  const { cancelled, served } = await deps.sql.begin(async (tx) => {
    const seen = await lockedCount(tx, sale, product)
    const excess = seen.orders.held + seen.orders.sold - seen.total
    // Locked in the order of their ids, as everyone does, before they are changed in any other.
    const cancelled = await tx<{ order_id: string; was: string; charge_id: string | null }[]>`
      with latest as (
        select order_id, sum(quantity) over (order by created_at desc, order_id desc) - quantity as before
        from orders
        where sale_id = ${sale} and product_id = ${product} and status in ${tx(CANCELLABLE)}
      ),
      locked as (
        select o.order_id, o.status from orders o
        where o.order_id in (select order_id from latest where before < ${excess})
          and o.status in ${tx(CANCELLABLE)}
        order by o.order_id for no key update
      )
      update orders o set status = 'cancelled', reason = 'oversold', updated_at = clock_timestamp()
      from locked l where o.order_id = l.order_id
      returning o.order_id, l.status as was, o.charge_id`
    const ids = cancelled.map((o) => o.order_id)
    await tx`insert into order_events (order_id, status) select unnest(${ids}::uuid[]), 'cancelled'`
    await tx`select pg_notify('order_changed', id) from unnest(${ids}::text[]) id`
    const refunds = cancelled.flatMap(({ order_id, charge_id }): Refund[] =>
      charge_id ? [{ charge: charge_id, order: order_id, reason: 'oversold' }] : [],
    )
    await deps.payments.jobs.addRefunds(tx, refunds)
    await audit(
      tx,
      cancelled.map(({ order_id, was, charge_id }) => ({
        actor,
        action: 'cancelled the latest, being oversold',
        sale,
        product,
        order: order_id,
        before: { status: was },
        after: { status: 'cancelled', ...(charge_id && { refund: charge_id }) },
      })),
    )
    const { orders } = await lockedCount(tx, sale, product)
    const sold = Math.min(orders.sold, seen.total)
    const held = Math.min(orders.held, seen.total - sold)
    await tx`
      update products set held = ${held}, sold = ${sold} where sale_id = ${sale} and product_id = ${product}`
    const served = orders.held + orders.sold <= seen.total
    if (served) await close(tx, sale, product, 'oversold', `cancelled the latest ${cancelled.length}`)
    return { cancelled: cancelled.length, served }
  })
  deps.metrics.orders.inc({ sale, status: 'cancelled', reason: 'oversold' }, cancelled)
  return served
}

/** There are more units than the total says: the operator's buffer. The total grows by what was sold too many. */
function fulfilFromBuffer(deps: Deps, sale: string, product: string, actor: string): Promise<boolean> {
  return deps.sql.begin(async (tx) => {
    const seen = await lockedCount(tx, sale, product)
    const { held, sold } = seen.orders
    await tx`
      update products set total = greatest(total, ${held + sold}), held = ${held}, sold = ${sold}
      where sale_id = ${sale} and product_id = ${product}`
    const before = { total: seen.total, held: seen.held, sold: seen.sold }
    const after = { total: Math.max(seen.total, held + sold), held, sold }
    await audit(tx, [{ actor, action: 'fulfilled from the buffer', sale, product, before, after }])
    await close(tx, sale, product, 'oversold', `fulfilled ${held + sold - seen.total} from the buffer`)
    return true
  })
}
