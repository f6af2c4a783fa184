/** What the ticket shards of a sale store of one visitor, for who asks what is kept of them, or to be forgotten. */
import { queueName } from '../../../shared/api/access.ts'
import type { StoredPlace } from '../../../shared/api/internal.ts'
import { type QueueContext, type ShardCalls, shardOf, withRetries } from '../rpc.ts'
import type { SaleNow } from '../sale-cache.ts'
import { shardFor } from './numbers.ts'
import { choicesOf } from './tree.ts'

type Now = Pick<SaleNow, 'sale' | 'policy' | 'ticketShards'>

/** The visitor's places in all lines; null if a shard does not respond. */
export async function storedPlaces(now: Now, visitor: string, context: QueueContext): Promise<StoredPlace[] | null> {
  const found = await ofEach(linesOf(now), now, visitor, context, (shard) => shard.storedOf(visitor))
  const numbers = found?.flatMap(({ line, response: { number } }) => (number === null ? [] : [{ line, number }]))
  return numbers ?? null
}

/** Deletes the visitor from all lines; false if a shard does not respond. */
export async function forgetPlaces(now: Now, visitor: string, context: QueueContext): Promise<boolean> {
  const queues = [...linesOf(now), { line: '', queue: choicesOf(now.sale) }]
  return (await ofEach(queues, now, visitor, context, (shard) => shard.forget(visitor))) !== null
}

const linesOf = ({ sale, policy }: Now) => policy.lines.map(({ line }) => ({ line, queue: queueName(sale, line) }))

async function ofEach<T extends object>(
  queues: readonly { readonly line: string; readonly queue: string }[],
  { ticketShards }: Now,
  visitor: string,
  { env }: QueueContext,
  ask: (shard: ShardCalls) => Promise<T>,
): Promise<{ line: string; response: T }[] | null> {
  const index = shardFor(visitor, ticketShards)
  const responses = await Promise.all(
    queues.map(async ({ line, queue }) => {
      const response = await withRetries(() => ask(shardOf(queue, index, ticketShards, env)))
      return response && { line, response }
    }),
  )
  const all = responses.filter((one) => one !== null)
  return all.length === queues.length ? all : null
}
