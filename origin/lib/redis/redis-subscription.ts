/**
 * A subscription to a channel of Redis, or of a Sentinel, on a connection of its own. A subscriber only listens, so
 * that it would not notice a network that forgets its connection: it asks every second whether it is still heard.
 * Whatever fails, the connection is closed and another one is made and subscribes: the client repeats nothing by
 * itself. What is published meanwhile is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { shouldLog } from '../loop.ts'
import { Signal } from '../signal.ts'

/** How often a subscriber asks. Its connection closes by itself when a reply takes longer than a command may. */
const ASK_EVERY_MS = 1_000
/** The pause before the next connection, jittered. */
const PAUSE_MS = 200

interface Subscribing {
  /**
   * Makes a connection that connects when it is told to and never again; undefined while there is nobody to connect
   * to.
   */
  readonly open: () => Redis | undefined
  readonly channel: string
  readonly hear: (message: string) => void
  /** Called at the 1st, 2nd, 4th, 8th consecutive failure. */
  readonly failed: (error: unknown) => void
}

export interface Subscription {
  /** Replaces the connection, which may be to a server that was replaced. */
  renew(): void
  stop(): void
}

export function subscribe({ open, channel, hear, failed }: Subscribing): Subscription {
  let stopped = false
  let connection: Redis | undefined
  let failures = 0
  const listen = async () => {
    connection = open()
    if (!connection) return
    const ended = new Signal()
    connection.on('error', () => {})
    connection.on('end', ended.notify)
    connection.on('message', (_, message: string) => hear(message))
    await connection.connect()
    await connection.subscribe(channel)
    failures = 0
    while (!stopped) {
      await ended.wait(ASK_EVERY_MS)
      await connection.ping()
    }
  }
  const run = async () => {
    while (!stopped) {
      await listen().catch((error) => {
        if (!stopped && shouldLog(++failures)) failed(error)
      })
      connection?.disconnect()
      await sleep(PAUSE_MS * (0.5 + Math.random()), undefined, { ref: false })
    }
  }
  void run()
  return {
    renew: () => connection?.disconnect(),
    stop() {
      stopped = true
      connection?.disconnect()
    },
  }
}
