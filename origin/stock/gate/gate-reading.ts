/** A gate as it is at one moment, to be compared with the ledger. */
import { type Intent, type Intents, pairs } from '../intents.ts'
import type { Store } from '../scripts.ts'
import type { GateKeys } from './gate-keys.ts'
import type { Stock } from './verdicts.ts'

export interface GateReading {
  readonly stock: ReadonlyMap<string, Stock>
  /** The bitmap of taken seats. */
  readonly seats: Uint8Array
  /** The orders that hold units. */
  readonly holds: readonly string[]
  /** The reservations that wait to be recorded; null: too many wait to be read at once. */
  readonly intents: readonly Intent[] | null
}

/** The limit of intents in one read, because a longer read would block Redis. */
const MAX_INTENTS = 5_000

/** Null while the gate is fenced. */
export async function readGate(redis: Store, key: GateKeys, intents: Intents): Promise<GateReading | null> {
  const reply = await redis.readGateBuffer(key.stock, key.holds, key.unrecorded, key.seats, MAX_INTENTS)
  if (reply === null) return null
  const [seats, stock, holds, waiting] = reply
  return {
    stock: readStock(stock.map(String)),
    seats,
    holds: holds.map(String),
    intents: waiting && pairs(waiting.map(String)).map(([order, stored]) => intents.intent(order, stored)),
  }
}

/** Product, available and held units in turn. */
export function readStock(reply: readonly string[]): Map<string, Stock> {
  const stock = new Map<string, Stock>()
  for (let i = 0; i < reply.length; i += 3)
    stock.set(String(reply[i]), { available: Number(reply[i + 1]), held: Number(reply[i + 2]) })
  return stock
}
