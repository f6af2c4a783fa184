/**
 * Which object calls which. Few ticket shards call the waiting room themselves. More of them would be too many calls
 * for one object: they lease through hubs, each for some shards, and isolates read snapshots from mirrors:
 *
 *     a few shards                many shards
 *     waiting room                waiting room
 *       └─ shard ◀ isolate          ├─ hub ◀ shards ◀ isolate (numbers)
 *                                   └─ mirror ◀ isolate (snapshots)
 *
 * Hubs and mirrors are ticket shards without visitors of their own. A name is the path to its object, so that each
 * knows whom to call: `spring-drop`, `spring-drop/3`, `spring-drop/hub-1/53`. With a block of a hub all its shards'
 * leases end, so the order of arrival keeps within the same bound (lease.ts).
 *
 * The numbers below keep each object under 60 % of what it can serve, at 2 and 20 million visitors (`npm run model`).
 */
import { queueName } from '../../../shared/api/access.ts'
import { HUB_LEASE_MS, LEASE_MS } from './lease.ts'

/** Up to this number of shards call the waiting room directly. */
const DIRECT_SHARDS = 24
const SHARDS_PER_HUB = 50
const MIRRORS = 20

export const hubsOf = (shards: number) => (shards > DIRECT_SHARDS ? Math.ceil(shards / SHARDS_PER_HUB) : 0)

/** How far two visitors can be out of their order of arrival, beside a round trip: the life of a block of numbers. */
export const orderBoundMs = (shards: number) => (hubsOf(shards) > 0 ? HUB_LEASE_MS : LEASE_MS)

/** The number of shards that isolates read snapshots from. */
export const mirrorsOf = (shards: number) => (shards > DIRECT_SHARDS ? MIRRORS : shards)

export function shardName(queue: string, index: number, shards: number): string {
  const hubs = hubsOf(shards)
  return hubs > 0 ? `${hubName(queue, index % hubs)}/${index}` : `${queue}/${index}`
}

const hubName = (queue: string, index: number) => `${queue}/hub-${index}`

export const mirrorName = (queue: string, index: number, shards: number) =>
  shards > DIRECT_SHARDS ? `${queue}/mirror-${index}` : shardName(queue, index, shards)

/**
 * The queue whose shards record which line of a sale a visitor has chosen, and give no numbers. No line has an empty
 * name.
 */
export const choicesOf = (sale: string) => queueName(sale, '')

export const isHub = (name: string) => /\/hub-\d{1,9}$/.test(name)

/** The name of the object that another one calls; a queue's own name is that of its waiting room. */
export const upstreamName = (name: string) => name.slice(0, name.lastIndexOf('/'))

/** All objects of a queue but its waiting room, those before that the others call. */
export const objectNames = (queue: string, shards: number): string[] => [
  ...Array.from({ length: hubsOf(shards) }, (_, i) => hubName(queue, i)),
  ...(hubsOf(shards) > 0 ? Array.from({ length: MIRRORS }, (_, i) => mirrorName(queue, i, shards)) : []),
  ...Array.from({ length: shards }, (_, i) => shardName(queue, i, shards)),
]
