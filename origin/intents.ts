/**
 * Intents: reservations that the fast gate has made and that no one has recorded, because the process that should have
 * is gone, or because the ledger was away. Any worker records them; the ledger makes sure that it happens once.
 */
import type { Deps } from './deps.ts'
import type { Intent } from './gate/gate.ts'
import { record } from './ledger/ledger.ts'

const BATCH = 500
/** Younger intents are on their way into the ledger with the process that made them. */
export const INTENT_GRACE_MS = 1_500

/** Records the intents of one product that are older than `minAgeMs`; returns how many it dealt with. */
export async function recordIntents(
  deps: Deps,
  sale: string,
  product: string,
  minAgeMs: number,
): Promise<number> {
  const gate = deps.checkout.gate(sale, product)
  let done = 0
  for (;;) {
    const batch = await gate.intents(BATCH, minAgeMs)
    if (batch.length === 0) return done
    await recordBatch(deps, sale, product, batch)
    done += batch.length
    if (batch.length < BATCH) return done
  }
}

async function recordBatch(
  deps: Deps,
  sale: string,
  product: string,
  batch: readonly Intent[],
): Promise<void> {
  const gate = deps.checkout.gate(sale, product)
  const intents = batch.map((one) => one.intent)
  const verdicts = await record(deps.sql, sale, intents, true)
  // The ledger is ahead of the gate from here on; dying now only means that the same is found recorded next time.
  const refused = intents.filter((intent, i) => {
    const verdict = verdicts[i]
    return (
      verdict?.verdict !== 'recorded' && !(verdict?.verdict === 'replay' && verdict.order === intent.order)
    )
  })
  await gate.settle(
    refused.map((r) => ({
      order: r.order,
      visitor: r.visitor,
      quantity: r.quantity,
      key: r.key,
      how: 'refuse',
    })),
  )
  await gate.acknowledge(batch.map((one) => one.entry))
  deps.log.info({ sale, product, intents: batch.length, refused: refused.length }, 'intents recorded')
}

/** One round over all products. */
export async function recordAllIntents(deps: Deps): Promise<void> {
  for (const { sale_id, products } of deps.sales.all()) {
    for (const { product_id } of products) {
      const left = await recordIntents(deps, sale_id, product_id, INTENT_GRACE_MS)
      deps.metrics.intents.set({ sale: sale_id, product: product_id }, left)
    }
  }
}
