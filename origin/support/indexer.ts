/** Keeps the search up to date: orders that events name are copied within a second, and later during a rush. */
import { readEvents } from '../events/reader.ts'
import type { Sql } from '../ledger/connection.ts'
import { copyToSearch } from './support-queries.ts'

export const SEARCH_READER = 'search'
/** The number of events per transaction. They name two thousand orders at most, and a statement has ten seconds. */
const PAGE = 400

/**
 * The average number of copies per second. A copy costs a third of a checkout, and during a rush buyers have
 * priority.
 */
const COPIES_PER_SECOND = 1_000

/**
 * Returns a round that copies changed orders and resolves to true if there may be more. After many copies the next
 * ones wait until the rate allows them.
 */
export function searchRounds(sql: Sql, copiesPerSecond = COPIES_PER_SECOND): () => Promise<boolean> {
  let notBeforeMs = 0
  return async () => {
    const beganMs = performance.now()
    if (beganMs < notBeforeMs) return false
    const copied = { orders: 0 }
    const isMore = await readEvents(
      sql,
      SEARCH_READER,
      async (tx, events) => {
        const ids = events.flatMap(({ order_id, order_ids }) => order_ids ?? order_id ?? [])
        copied.orders = ids.length
        if (ids.length > 0) await copyToSearch(tx, ids)
      },
      PAGE,
    )
    notBeforeMs = beganMs + (1000 * copied.orders) / copiesPerSecond
    return isMore && performance.now() >= notBeforeMs
  }
}
