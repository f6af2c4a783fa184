/**
 * The reconciler: compares the fast gate with the ledger and puts it right. The ledger is what is true; the gate is
 * rebuilt from it whenever it differs for longer than things are in flight, and always before it is used in a new run
 * of Redis. Meanwhile the exact gate serves alone.
 */
import type { Deps } from './deps.ts'
import type { LiveOrder } from './gate/gate.ts'
import { recordIntents } from './intents.ts'
import type { ProductRow } from './ledger/ledger.ts'
import { available } from './sales.ts'

export interface Finding {
  readonly product_id: string
  /** fenced: the gate was not in use; drift: it counted otherwise than the ledger; ok: nothing to do. */
  readonly found: 'ok' | 'fenced' | 'drift'
  /** Units the gate had too many (positive) or too few (negative). */
  readonly drift: number
  readonly healed: boolean
  readonly ledger: { total: number; available: number; held: number; sold: number }
}

const READ_CHUNK = 5_000

/** Compares and heals every product of a sale now. With `force` the gates are rebuilt whatever they say. */
export async function reconcileSale(
  deps: Deps,
  sale: string,
  force = false,
): Promise<{ sale: string; findings: Finding[] }> {
  await deps.sales.refresh()
  const findings: Finding[] = []
  for (const { product_id } of deps.sales.get(sale)?.products ?? []) {
    findings.push(await reconcileProduct(deps, sale, product_id, force))
  }
  return { sale, findings }
}

/** Every sale that has not ended. */
export async function reconcileAll(deps: Deps): Promise<void> {
  for (const { sale_id, ended_at } of deps.sales.all()) if (!ended_at) await reconcileSale(deps, sale_id)
}

/** A difference must be seen this often, so far apart, to be one: what is in flight settles meanwhile. */
const LOOKS = 3
const LOOK_EVERY_MS = 150

async function reconcileProduct(deps: Deps, sale: string, product: string, force: boolean): Promise<Finding> {
  let looked = await look(deps, sale, product)
  for (let looks = 1; !force && looked.found === 'drift' && looks < LOOKS; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    const again = await look(deps, sale, product)
    looked = again.found === 'drift' && again.drift !== looked.drift ? { ...again, found: 'ok' } : again
  }
  deps.metrics.drift.set({ sale, product }, looked.found === 'drift' ? looked.drift : 0)
  if (looked.found === 'ok' && !force) return looked
  const healed = await rebuild(deps, sale, product)
  deps.log.warn(
    { sale, product, found: looked.found, drift: looked.drift, healed },
    'the gate was rebuilt from the ledger',
  )
  return { ...looked, healed }
}

async function look(deps: Deps, sale: string, product: string): Promise<Finding> {
  const gate = deps.checkout.gate(sale, product)
  const stock = await gate.stock()
  const unrecorded = (await gate.intents(READ_CHUNK)).reduce(
    (units, { intent }) => units + intent.quantity,
    0,
  )
  const row = await readProduct(deps, sale, product)
  const ledger = { total: row.total, available: available(row), held: row.held, sold: row.sold }
  deps.metrics.oversold.set({ sale, product }, Math.max(0, row.held + row.sold - row.total))
  for (const state of ['available', 'held', 'sold'] as const)
    deps.metrics.stock.set({ sale, product, state }, ledger[state])
  const drift = stock ? stock.available + unrecorded - ledger.available : 0
  return {
    product_id: product,
    found: stock ? (drift === 0 ? 'ok' : 'drift') : 'fenced',
    drift,
    healed: false,
    ledger,
  }
}

/**
 * Fence, record what is still in the stream, read what lives, put it back, open. The counts are read last: what the
 * exact gate sold meanwhile is in them.
 */
async function rebuild(deps: Deps, sale: string, product: string): Promise<boolean> {
  const gate = deps.checkout.gate(sale, product)
  const fence = await gate.fence()
  await recordIntents(deps, sale, product, 0)
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const rows = await deps.sql<(LiveOrder & { status: string })[]>`
      select order_id as "order", visitor, idempotency_key as key, request_hash as hash, quantity,
        case when status in ('reserved', 'paying') then extract(epoch from reserved_until)::float8 * 1000 end as "holdEndsAtMs"
      from orders
      where sale_id = ${sale} and product_id = ${product} and order_id > ${after}
        and status in ('reserved', 'paying', 'confirmed', 'fulfilled')
      order by order_id limit ${READ_CHUNK}`
    await gate.restore(rows)
    const last = rows.at(-1)
    if (!last || rows.length < READ_CHUNK) break
    after = last.order
  }
  const row = await readProduct(deps, sale, product)
  return gate.unfence(fence, { available: available(row), held: row.held })
}

async function readProduct(deps: Deps, sale: string, product: string): Promise<ProductRow> {
  const [row] = await deps.sql<ProductRow[]>`
    select product_id, name, unit_price_minor, currency, total, held, sold from products
    where sale_id = ${sale} and product_id = ${product}`
  if (!row) throw new Error(`no product ${product} in sale ${sale}`)
  return row
}
