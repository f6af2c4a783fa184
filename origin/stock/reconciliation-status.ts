/**
 * What the last comparison of each product found, kept in Redis for a while: workers compare, and whichever origin an
 * operator asks can tell of it.
 */
import type { Store } from './scripts.ts'

/** Of the gate with the ledger; or of the ledger with its orders, which are counted more rarely. */
type Kind = 'gate' | 'orders'

/** What no worker has compared again for so long is not known any more. */
const KEPT_MS = 120_000

const keyOf = (sale: string) => `{${sale}}:compared`

/** Notes at which time of the ledger it was compared, and whether all was as it should be. */
export async function noteCompared(
  redis: Store,
  { sale, product }: { sale: string; product: string },
  kind: Kind,
  holds: boolean,
  atMs: number,
): Promise<void> {
  const key = keyOf(sale)
  await redis
    .multi()
    .hset(key, `${product}:${kind}`, `${Math.round(atMs)} ${holds ? 'holds' : 'fails'}`)
    .pexpire(key, KEPT_MS)
    .exec()
    .catch(() => {})
}

/**
 * Whether the last comparisons of these products found nothing, and the time of the oldest; null where the gate of one has
 * not been compared, or Redis cannot be asked. The orders of a new product are counted some seconds later.
 */
export async function readCompared(
  redis: Store,
  sale: string,
  products: readonly string[],
): Promise<{ holds: boolean; at: Date } | null> {
  const noted = await redis.hgetall(keyOf(sale)).catch((): Record<string, string> => ({}))
  if (products.some((product) => noted[`${product}:gate`] === undefined)) return null
  const kinds: Kind[] = ['gate', 'orders']
  const each = products.flatMap((product) => kinds.flatMap((kind) => noted[`${product}:${kind}`] ?? []))
  const atMs = Math.min(...each.map((one) => Number(one.split(' ')[0])))
  return { holds: each.every((one) => one.endsWith(' holds')), at: new Date(atMs) }
}
