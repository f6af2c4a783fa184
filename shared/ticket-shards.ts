/**
 * Calculates the number of a sale's ticket shards, which are objects at the edge that record its visitors and give
 * them numbers.
 */

/** All expected visitors may join within a few seconds, and a shard records some hundreds a second. */
const VISITORS_PER_SHARD = 10_000
/**
 * The limit serves 20 million visitors. With more shards the waiting room would get reports from too many hubs
 * (edge/queue/numbers/tree.ts).
 */
export const MAX_SHARDS = 2_000

export const shardsFor = (visitors: number) => Math.min(MAX_SHARDS, Math.ceil(visitors / VISITORS_PER_SHARD))
