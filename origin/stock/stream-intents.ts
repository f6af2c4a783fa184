/**
 * Intents as the version before wrote them: one stream entry each, the reservation as JSON. It may still run beside this one,
 * or have left some. It leaves the intents of this version alone, because it does not know their key.
 */
import type { Cluster, Redis } from 'ioredis'
import * as v from 'valibot'
import { tryParseJson } from '../../shared/parse.ts'
import type { Reservation } from '../ledger/record.ts'
import type { Store } from './scripts.ts'

/** An intent as it is stored: by this version (intents.ts) or by the version before. */
export interface Intent {
  /** The id of its order; for the version before, the id of its stream entry. */
  readonly entry: string
  /** Null if it cannot be read, for example because another version wrote it. */
  readonly intent: Reservation | null
  readonly stored: readonly string[]
}

/** Selects intents that at `nowMs` are at least `minMs` old. */
export interface Age {
  readonly nowMs: number
  readonly minMs: number
}

/** Entries read at once in a search. */
const SEARCH_PAGE = 1_000

/** Entries are named by time and place; the orders of this version are UUIDs. */
export const isStreamEntry = (entry: string) => /^\d+-\d+$/.test(entry)

const text = v.pipe(v.string(), v.minLength(1))
const integer = v.pipe(v.number(), v.safeInteger())
const StoredReservation = v.object({
  order: text,
  sale: text,
  product: text,
  visitor: text,
  number: integer,
  quantity: integer,
  key: text,
  hash: text,
  method: v.nullable(text),
}) satisfies v.GenericSchema<unknown, Reservation>

const reservationIn = (fields: readonly string[]) => fields[fields.indexOf('reservation') + 1] ?? ''
/** The order in a stored reservation. Quotes within a JSON string are escaped, so nothing else matches. */
const ORDER = /"order":"([^"]+)"/

/** Intents that are at least this old, the oldest first. */
export async function readStream(redis: Store, stream: string, limit: number, age: Age): Promise<Intent[]> {
  const read = async (from: string | number, to: string | number, count: number) => {
    const entries = await redis.xrange(stream, from, to, 'COUNT', count)
    return entries.map(([entry, stored]) => ({
      entry,
      stored,
      intent: tryParseJson(StoredReservation, reservationIn(stored)) ?? null,
    }))
  }
  if (age.minMs === 0) return read('-', '+', limit)
  const old = await read('-', age.nowMs - age.minMs, limit)
  if (old.length === limit) return old
  // Stream ids never go back. If Redis's clock was put back, ids ahead of it may be of any age. Not those just ahead:
  // some are made while this is read.
  return [...old, ...(await read(age.nowMs + age.minMs, '+', limit - old.length))]
}

/** The intents of these orders: reads the stream until all are found, or to its end. */
export async function searchStream(
  redis: Redis | Cluster,
  stream: string,
  orders: ReadonlySet<string>,
): Promise<Map<string, Reservation>> {
  const found = new Map<string, Reservation>()
  for (let after = '-', page = SEARCH_PAGE; page === SEARCH_PAGE && found.size < orders.size; ) {
    const entries = await redis.xrange(stream, after, '+', 'COUNT', SEARCH_PAGE)
    page = entries.length
    after = `(${entries.at(-1)?.[0]}`
    for (const [, fields] of entries) {
      const stored = reservationIn(fields)
      // Most are not searched for, and need not be parsed.
      if (!orders.has(ORDER.exec(stored)?.[1] ?? '')) continue
      const reservation = tryParseJson(StoredReservation, stored)
      if (reservation) found.set(reservation.order, reservation)
    }
  }
  return found
}
