/** How many ticket shards a sale has: objects at the edge that record its visitors and give them numbers. */

/** Each expected visitor may join within the same few seconds; a shard records some hundreds a second. */
const VISITORS_PER_SHARD = 10_000
/** Those of 20 million. With more, the waiting room would hear from too many hubs (edge/queue/numbers/tree.ts). */
export const MAX_SHARDS = 2_000

export const shardsFor = (visitors: number) => Math.min(MAX_SHARDS, Math.ceil(visitors / VISITORS_PER_SHARD))
