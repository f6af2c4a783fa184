/**
 * Intents: reservations that wait in a gate's stream to be recorded. An origin removes an intent once its order is in the
 * ledger; those of an origin that died, or of a time without the ledger, are left to the workers.
 */
import * as v from 'valibot'
import { tryParseJson } from '../../shared/parse.ts'
import type { Reservation } from '../ledger/record.ts'
import type { Store } from './scripts.ts'

/** Entries read at once in a search. */
const SEARCH_PAGE = 1_000

export interface Intent {
  readonly entry: string
  /** Null if it cannot be read, because another version wrote it for instance. */
  readonly intent: Reservation | null
  readonly fields: readonly string[]
}

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

/** The intents in a range of a stream, the oldest first. */
export async function readIntents(
  redis: Store,
  stream: string,
  [from, to]: readonly [string | number, string | number],
  limit: number,
): Promise<Intent[]> {
  const entries = await redis.xrange(stream, from, to, 'COUNT', limit)
  return entries.map(([entry, fields]) => ({
    ...{ entry, fields },
    intent: tryParseJson(StoredReservation, reservationIn(fields)) ?? null,
  }))
}

/** The intents of these orders: reads the stream until all are found, or to its end. */
export async function findIntents(
  redis: Store,
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
