/** What the judge reads of the stores, by statements and commands of its own. */
import type { Sql } from '../../../origin/ledger/connection.ts'
import type { Store } from '../../../origin/stock/scripts.ts'

export type Units = Readonly<Record<string, number>>

export interface OrderSeen {
  readonly id: string
  readonly status: string
  readonly visitor: string
  readonly key: string
  readonly units: number
  readonly parts: Units
  readonly seats: readonly number[]
  readonly total: number
  readonly refunded: number
  readonly reason: string | null
  /** A payment began so long after its hold. */
  readonly late_ms: number
  /** The status of each of its events, in their order. */
  readonly events: readonly string[]
}
interface ProductSeen {
  readonly id: string
  readonly total: number
  readonly buffer: number
  readonly held: number
  readonly sold: number
}
export interface LedgerSeen {
  readonly orders: readonly OrderSeen[]
  readonly products: readonly ProductSeen[]
  readonly claims: readonly { readonly seat: number; readonly order: string }[]
  readonly open_refunds: number
  /** The refunds that were decided, with the ids of those of the provider that count for them. */
  readonly refunds: readonly { readonly id: string; readonly returned: readonly string[] }[]
  readonly jobs: number
  readonly findings: readonly string[]
}
/** An intent as it waits at the gate. */
interface IntentSeen {
  readonly units: Units
  readonly visitor: string
  readonly key: string
  /** Somebody has promised it, or records it: nobody may give it back any more. */
  readonly isMarked: boolean
}
export interface GateSeen {
  readonly stock: Readonly<Record<string, string>>
  readonly holds: readonly string[]
  readonly intents: ReadonlyMap<string, IntentSeen>
  readonly run: string | null
}

export async function readGate(redis: Store, sale: string): Promise<GateSeen> {
  const answers = await redis
    .pipeline()
    .hgetall(`{${sale}}:stock`)
    .zrange(`{${sale}}:holds`, '0', '-1')
    .hgetall(`{${sale}}:unrecorded`)
    .get('explore:run')
    .exec()
  type Answers = [GateSeen['stock'], GateSeen['holds'], Readonly<Record<string, string>>, GateSeen['run']]
  const [stock, holds, intents, run] = (answers ?? []).map(([, answer]) => answer) as Answers
  return {
    stock,
    holds,
    intents: new Map(Object.entries(intents).map(([order, text]) => [order, intentIn(text)])),
    run,
  }
}

/** The fields of an intent, which spaces end, and its visitor, who follows. */
function intentIn(text: string): IntentSeen {
  const [, marks = '', key = '', visitor = ''] = /^\d+(p?t?) \S+ \S+ (\S+) \S+ \S+ \S+ \S+ \S* (.+)$/.exec(text) ?? []
  return { units: unitsIn(text), visitor, key, isMarked: marks !== '' }
}

/** The units of an intent: its second and third word, a product or parts such as `one=2;stalls:3,4`. */
function unitsIn(intent: string): Units {
  const [, quantity, units = ''] = intent.split(' ')
  if (!/[=:]/.test(units)) return { [units]: Number(quantity) }
  const parts = units.split(';').map((part) => /^([^=:]+)([=:])(.*)$/.exec(part) ?? [])
  return Object.fromEntries(
    parts.map(([, product = '', sign, rest = '']) => [product, sign === '=' ? Number(rest) : rest.split(',').length]),
  )
}

export async function readLedger(sql: Sql, sale: string): Promise<LedgerSeen> {
  const [row] = await sql<LedgerSeen[]>`
    select (select coalesce(json_agg(json_build_object('id', order_id, 'status', status, 'visitor', visitor,
        'key', idempotency_key, 'units', quantity, 'refunded', refunded_minor, 'reason', reason,
        'late_ms', (select coalesce(max(extract(epoch from e.at - o.reserved_until)) * 1000, 0) from events e
          where e.order_id = o.order_id and e.status = 'paying' and not e.data ? 'action'),
        'events', (select json_agg(e.status order by e.seq) from events e
          where e.order_id = o.order_id or o.order_id = any(e.order_ids)),
        'total', order_total(unit_price_minor, quantity, cart, bill),
        'parts', coalesce((select json_object_agg(l.product, l.units) from (
            select l ->> 'product' as product, sum((l ->> 'quantity')::int) as units
            from jsonb_array_elements(cart) l where not l ? 'returned' group by 1) l),
          case when cart is null then json_build_object(product_id, quantity) else '{}' end),
        'seats', coalesce((select json_agg((l ->> 'seat')::int) from jsonb_array_elements(cart) l
          where l ? 'seat' and not l ? 'returned'), '[]'))), '[]')
        from orders o where sale_id = ${sale}) as orders,
      (select coalesce(json_agg(json_build_object('id', product_id, 'total', total, 'buffer', buffer, 'held', held,
        'sold', sold)), '[]') from products where sale_id = ${sale}) as products,
      (select coalesce(json_agg(json_build_object('seat', seat_index, 'order', order_id)), '[]')
        from seat_claims where sale_id = ${sale}) as claims,
      (select count(*)::int from refunds where refunded_at is null) as open_refunds,
      (select coalesce(json_agg(json_build_object('id', refund_id, 'returned',
        array(select jsonb_object_keys(returned)))), '[]') from refunds) as refunds,
      (select count(*)::int from jobs) as jobs,
      (select coalesce(json_agg(kind), '[]') from findings) as findings`
  if (!row) throw new Error('the ledger returned nothing')
  return row
}
