/** What the operators' API, the payment provider's records and the crowd's memory say when it is over: for the verdict. */
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { servingExactly } from '../shared/schedule.ts'
import { type Seen, servedBy } from './cdn.ts'
import type { Crowd } from './crowd.ts'
import type { Charge, Evidence, LedgerOrder, Story } from './verdict.ts'
import { PLAN } from './visitors.ts'

/** A system to play on. */
export interface Target {
  readonly edge: string
  readonly origin: string
  readonly adminToken: string
  readonly databaseUrl: string | undefined
}

/** The system to play on cannot be played on; the message is for the person at the terminal. */
export class TargetError extends Error {}

const CALL_WITHIN_MS = 120_000
const LOOK_EVERY_MS = 500
/** After the last hold is over and the last charge was tried, the ledger needs no longer than this. */
const SETTLE_MARGIN_MS = 30_000
/** How far a cached schedule can be behind what Workers decide by: its age and one look. */
const DOCUMENT_LATE_MS = 2_500

export async function admin(to: Target, method: string, path: string, body?: unknown): Promise<Response> {
  const response = await fetch(`${to.origin}/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${to.adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
  }).catch((error: Error) => {
    const cause = (error.cause as { code?: string } | undefined)?.code ?? error.message
    throw new TargetError(`The origin at ${to.origin} does not answer (${cause}).`)
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

/** The sandbox provider's own records, where the database is within reach. */
export async function chargesOf(
  databaseUrl: string | undefined,
  orders: readonly LedgerOrder[],
): Promise<Charge[] | null> {
  if (!databaseUrl) return null
  const sql = postgres(databaseUrl, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    const ids = orders.map((o) => o.order_id)
    return await sql<Charge[]>`
      select order_id::text as "order", status from sandbox.charges where order_id = any(${ids}::uuid[])`
  } catch {
    return null
  } finally {
    await sql.end({ timeout: 2 })
  }
}

/** What every client was told. */
export function storiesOf(crowd: Crowd): Story[] {
  const { visitors, cdn } = crowd
  const stories: Story[] = []
  for (let visitor = 0; visitor < visitors.size; visitor++) {
    const number = visitors.number[visitor] || null
    const admittedMs = visitors.admittedMs[visitor] || null
    const order = visitors.orders.get(visitor)
    stories.push({
      number,
      joinSentMs: cdn.serverMs(visitors.joinSentMs[visitor] ?? 0),
      joinAnsweredMs: cdn.serverMs(visitors.joinAnsweredMs[visitor] ?? 0),
      admittedMs: admittedMs === null ? null : cdn.serverMs(admittedMs),
      admittedAtServing: admittedMs === null ? null : (visitors.servingTold[visitor] ?? 0),
      order: order?.order ?? null,
      orderStatus: order?.status ?? null,
      end: visitors.endOf(visitor) ?? 'gave_up',
    })
  }
  return stories
}

export interface Judged {
  readonly stock: number
  readonly rate: number
  readonly limit: number
  readonly cutShort: boolean
  readonly commitmentBefore: string
}

export function evidenceOf(
  crowd: Crowd,
  stories: readonly Story[],
  ledger: { inventory: Inventory; orders: readonly LedgerOrder[] },
  charges: readonly Charge[] | null,
  judged: Judged,
): Evidence {
  const { cdn } = crowd
  const last = cdn.copy
  const anyBots = crowd.visitors.plan.some((plan) => (plan & PLAN.bot) !== 0)
  return {
    ...judged,
    ...ledger,
    stories,
    charges,
    draw: {
      commitmentBefore: judged.commitmentBefore,
      commitment: last.draw_commitment,
      seed: last.draw_seed,
      size: last.pre_queue_size,
      beacon: last.draw_beacon,
    },
    servedByMs: servedBy(cdn.seen, DOCUMENT_LATE_MS),
    served: cdn.seen.map(lineAt),
    positions: crowd.tally.positions,
    shoppingMs: crowd.tally.shoppingMs,
    bots: anyBots ? crowd.tally.bots : null,
  }
}

const lineAt = ({ schedule }: Seen) =>
  schedule.draw_seed === null ? 0 : Math.floor(servingExactly(schedule, schedule.server_time_ms))
