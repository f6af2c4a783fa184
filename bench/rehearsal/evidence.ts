/** What the operators' API, the payment provider's records and the crowd's memory say when it is over: for the verdict. */
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { UsageError } from '../../dev/command.ts'
import { SOLD } from '../../shared/order-status.ts'
import type { Charge, Evidence, LedgerOrder, Story, Unread } from '../verdict/story.ts'
import { servedBy } from './cdn.ts'
import type { Crowd } from './crowd.ts'
import { PLAN } from './visitors.ts'

/** A system to play on. */
export interface Target {
  readonly edge: string
  readonly origin: string
  readonly adminToken: string
  readonly databaseUrl: string | undefined
}

/** The system to play on cannot be played on; the message is for the person at the terminal. */
export class TargetError extends UsageError {}

const CALL_WITHIN_MS = 120_000
const EDGE_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 500
/** After the last hold is over and the last charge was tried, the ledger needs no longer than this, and the next capture. */
const SETTLE_MARGIN_MS = 30_000
/** How far a cached schedule can be behind what Workers decide by: its age and one look. */
const DOCUMENT_LATE_MS = 2_500

const codeOf = (error: Error) => (error.cause as { code?: string } | undefined)?.code ?? error.message

/** Says at once that nobody is there, before a sale is made that nobody could come to. */
export async function edgeAnswers(edge: string): Promise<void> {
  const response = await fetch(`${edge}/healthz`, { signal: AbortSignal.timeout(EDGE_WITHIN_MS) }).catch(
    (error: Error) => {
      throw new TargetError(`The edge at ${edge} does not answer (${codeOf(error)}).`)
    },
  )
  await response.body?.cancel()
  if (!response.ok) throw new TargetError(`The edge at ${edge} answered ${response.status} to GET /healthz.`)
}

export async function admin(
  to: Target,
  method: string,
  path: string,
  body?: unknown,
  withinMs = CALL_WITHIN_MS,
): Promise<Response> {
  const response = await fetch(`${to.origin}/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${to.adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(withinMs),
  }).catch((error: Error) => {
    throw new TargetError(`The origin at ${to.origin} does not answer (${codeOf(error)}).`)
  })
  if (response.ok) return response
  const text = (await response.text()).slice(0, 300)
  if (response.status === 401) throw new TargetError(`The origin at ${to.origin} refuses the admin token.`)
  throw new TargetError(`The origin answered ${response.status} to ${method} ${path}: ${text}`)
}

interface Inventory {
  readonly total: number
  readonly available: number
  readonly held: number
  readonly sold: number
}

/** The ledger, once nothing moves any more: holds of those who walked away are over, charges are through. */
export async function settledLedger(
  to: Target,
  sale: string,
  holdSeconds: number,
): Promise<{ inventory: Inventory; orders: LedgerOrder[] }> {
  const untilMs = performance.now() + holdSeconds * 1000 + SETTLE_MARGIN_MS
  for (;;) {
    const state = (await (await admin(to, 'GET', `/sales/${sale}`)).json()) as { products: Inventory[] }
    const [inventory] = state.products
    if (!inventory) throw new Error('The sale has lost its product.')
    if (inventory.held === 0 || performance.now() > untilMs)
      return { inventory, orders: await exportedOrders(to, sale) }
    await sleep(LOOK_EVERY_MS)
  }
}

async function exportedOrders(to: Target, sale: string): Promise<LedgerOrder[]> {
  const text = await (await admin(to, 'GET', `/sales/${sale}/orders?format=ndjson`)).text()
  const orders: LedgerOrder[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const { order_id, status, visitor, ticket_number, quantity } = JSON.parse(line) as LedgerOrder
    orders.push({ order_id, status, visitor, ticket_number: Number(ticket_number), quantity })
  }
  return orders
}

/**
 * The sandbox provider's own records of the sale, and of orders that nobody knows in its time: from the sale's creation
 * on, by the database's clock. Other sales on the same system have orders of their own, and are none of ours. Money is
 * taken after the order is confirmed: it is waited for.
 */
export async function chargesOf(databaseUrl: string | undefined, sale: string): Promise<Charge[] | Unread> {
  if (!databaseUrl) return { unread: 'out of reach, give DATABASE_URL' }
  let sql: postgres.Sql | undefined
  try {
    sql = postgres(databaseUrl, { max: 1, connect_timeout: 5, onnotice: () => {} })
    let untilMs = performance.now() + SETTLE_MARGIN_MS
    for (let open = Number.POSITIVE_INFINITY; ; ) {
      const charges = await sql<(Charge & { sold: boolean | null })[]>`
        select c.order_id::text as "order", c.status, c.amount_minor::float8 as amount_minor, c.currency,
          o.status in ${sql(SOLD)} as sold
        from sandbox.charges c left join orders o using (order_id)
        where o.sale_id = ${sale}
          or (o.order_id is null and c.created_at >= (select created_at from sales where sale_id = ${sale}))`
      const waiting = charges.filter((c) => c.status === 'authorized' && c.sold).length
      if (waiting < open) untilMs = performance.now() + SETTLE_MARGIN_MS
      open = waiting
      if (waiting === 0 || performance.now() > untilMs) return charges
      await sleep(LOOK_EVERY_MS)
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { unread: `could not be read by DATABASE_URL (${message || code})` }
  } finally {
    await sql?.end({ timeout: 2 })
  }
}

/** What every client was told. */
function storiesOf(crowd: Crowd): Story[] {
  const { visitors, cdn } = crowd
  const stories: Story[] = []
  const told = (ms: number | null | undefined) => (ms ? cdn.serverMs(ms) : null)
  for (let visitor = 0; visitor < visitors.size; visitor++) {
    const number = visitors.number[visitor] ?? Number.NaN
    const admittedMs = told(visitors.admittedMs[visitor])
    const order = visitors.orders.get(visitor)
    stories.push({
      number: Number.isNaN(number) ? null : number,
      joinSentMs: cdn.serverMs(visitors.joinSentMs[visitor] ?? 0),
      joinAnsweredMs: cdn.serverMs(visitors.joinAnsweredMs[visitor] ?? 0),
      admittedMs,
      admittedAtServing: admittedMs === null ? null : (visitors.servingTold[visitor] ?? 0),
      order: order?.order ?? null,
      orderStatus: order?.status ?? null,
      reserveSentMs: told(visitors.reserveSentMs[visitor]),
      method: visitors.methodOf(visitor),
      payMeantMs: told(order?.payMeantMs),
      paidSentMs: told(order?.paidSentMs),
      soldOutToldMs: told(visitors.soldOutToldMs[visitor]),
      end: visitors.endOf(visitor) ?? 'gave_up',
    })
  }
  return stories
}

/** What the rehearsal was told, as far as it is judged by it. */
export type Judged = Pick<
  Evidence,
  'stock' | 'rate' | 'limit' | 'price' | 'holdMs' | 'ownSystem' | 'cutShort'
>

export function evidenceOf(
  crowd: Crowd,
  ledger: { inventory: Inventory; orders: readonly LedgerOrder[] },
  charges: readonly Charge[] | Unread,
  judged: Judged,
): Evidence {
  const { cdn, visitors, tally } = crowd
  const anyBots = visitors.plan.some((plan) => (plan & PLAN.bot) !== 0)
  return {
    ...judged,
    ...ledger,
    // Before the draw the line is announced to begin at the opening; its moment is on the edge's clock, as all times are.
    opensAtMs: cdn.seen[0]?.schedule.anchor_at_ms ?? 0,
    stories: storiesOf(crowd),
    otherNumbers: visitors.otherNumbers,
    charges,
    documents: cdn.seen,
    servedByMs: servedBy(cdn.seen, DOCUMENT_LATE_MS),
    positions: tally.positions,
    shoppingMs: tally.shoppingMs,
    bots: anyBots ? tally.bots : null,
  }
}
