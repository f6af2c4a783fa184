/**
 * A managed Redis that fails over while a sale runs: two servers behind one address, whose roles are swapped. No
 * connection is closed; the old primary becomes a replica, and refuses writes. Each time it is measured how long it
 * takes until the gate takes a reservation at the new primary.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { LOOPBACK } from '../../../dev/lib/processes.ts'
import { startHaproxy } from '../../../dev/servers/haproxy.ts'
import { startRedis } from '../../../dev/servers/redis.ts'
import type { System } from '../../../dev/system.ts'
import { withTimeout } from '../../../origin/lib/with-timeout.ts'

/** The roles are swapped once for so many seconds in which visitors come, so ten times in two minutes. */
const SECONDS_EACH = 12
/** The calm between two swaps, as a share of that; the rest is for the recovery and the replica's copy. */
const CALM = [0.1, 0.4] as const
const POLL_EVERY_MS = 20
/** A replica that has not copied its primary after this time, or a gate that is not in use again, is broken. */
const WITHIN_MS = 30_000

/** What one swap came to: the time until the gate took a reservation, or null if it took none. */
type UsedAfterMs = number | null

export class Failover {
  #address: Promise<string> | undefined
  #servers: [primary: Redis, replica: Redis] | undefined

  /** Every part reaches Redis by the address that leads to the primary. */
  readonly route = async (_from: string, to: string, url: string): Promise<string> => {
    if (to !== 'Redis') return url
    this.#address ??= this.#pair(url)
    return this.#address
  }

  /** Returns the system as its users reach it. */
  async begin(system: System): Promise<System> {
    return { ...system, redisUrl: await this.route('the records', 'Redis', system.redisUrl) }
  }

  /** Starts a replica of the server, and the address before both. */
  async #pair(url: string): Promise<string> {
    const { url: second } = await startRedis()
    const [primary, replica] = [new Redis(url), new Redis(second)]
    this.#servers = [primary, replica]
    for (const server of this.#servers) {
      // A replica's first copy waits for others by default, and a reservation announces itself.
      await server.config('SET', 'repl-diskless-sync-delay', '0')
      await server.config('SET', 'notify-keyspace-events', 'Kh')
    }
    await replica.replicaof(LOOPBACK, portOf(url))
    await follows(replica)
    return (await startHaproxy([url, second])).url
  }

  /**
   * Swaps the roles again and again while visitors come, for this many seconds, unless `isOver`. `underLoad` resolves
   * when calls are in progress. Returns for each swap how long the gate of the sale was out of use.
   */
  async play(
    sale: string,
    seconds: number,
    random: () => number,
    underLoad: () => Promise<void>,
    isOver: () => boolean,
  ): Promise<readonly UsedAfterMs[]> {
    const swaps = Math.max(1, Math.floor(seconds / SECONDS_EACH))
    const usedAfterMs: UsedAfterMs[] = []
    for (let swap = 0; swap < swaps && !isOver(); swap++) {
      await sleep((CALM[0] + random() * (CALM[1] - CALM[0])) * SECONDS_EACH * 1000)
      await underLoad()
      if (!isOver()) usedAfterMs.push(await this.#swap(sale))
    }
    for (const server of this.#servers ?? []) server.disconnect()
    return usedAfterMs
  }

  async #swap(sale: string): Promise<UsedAfterMs> {
    if (!this.#servers) throw new Error('No part has asked for Redis.')
    const [old, next] = this.#servers
    this.#servers = [next, old]
    const reservation = await untilReserved(next, sale)
    const sinceMs = performance.now()
    await Promise.all([next.replicaof('NO', 'ONE'), old.replicaof(LOOPBACK, next.options.port ?? 0)])
    const atMs = await reservation()
    await follows(old)
    return atMs && atMs - sinceMs
  }
}

const portOf = (url: string) => Number(new URL(url).port)

/** Resolves once a replica has a copy of its primary, and receives what changes there. */
async function follows(replica: Redis): Promise<void> {
  const untilMs = performance.now() + WITHIN_MS
  while (!(await replica.info('replication')).includes('master_link_status:up')) {
    if (performance.now() > untilMs) throw new Error('A replica has not copied its primary.')
    await sleep(POLL_EVERY_MS)
  }
}

/**
 * Listens for reservations of the fast gate at one server: `reserve.lua` alone changes the visitors and then at once
 * the intents. The function returned resolves to the time of the first one from then on, or to null if there is none
 * within the limit. A replica repeats reservations of its primary, so it is called when the server is one no more.
 */
async function untilReserved(server: Redis, sale: string) {
  const events = server.duplicate()
  const reserved = Promise.withResolvers<number>()
  let [before, listens] = ['', false]
  events.on('pmessage', (_pattern: string, channel: string) => {
    const key = channel.slice(channel.lastIndexOf(':') + 1)
    if (listens && before === 'visitors' && key === 'unrecorded') reserved.resolve(performance.now())
    before = key
  })
  await events.psubscribe(`__keyspace@0__:{${sale}}:*`)
  return async (): Promise<number | null> => {
    // What the replica repeated has arrived before the answer.
    await events.ping()
    listens = true
    const atMs = await withTimeout<number | null>(reserved.promise, WITHIN_MS, undefined, () => null)
    events.disconnect()
    return atMs
  }
}
