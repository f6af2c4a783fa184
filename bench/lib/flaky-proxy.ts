/** A proxy to a server on this machine that fails in the ways that networks do. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from '../../dev/lib/loopback.ts'

export type FlakyProxy = ReturnType<typeof flakyProxy>

export function flakyProxy(portOfServer: () => number) {
  const ends = new Set<Socket>()
  let lost: 'nothing' | 'answers' | 'all' = 'nothing'
  let resetAt: string | undefined
  let refuses = false
  let delayMs = 0
  let [replies, resetEvery] = [0, Number.POSITIVE_INFINITY]
  const proxy = createServer((client) => {
    if (refuses) return void client.resetAndDestroy()
    const server = connect(portOfServer(), LOOPBACK)
    const both = [client, server]
    /** Resolves when all delayed replies of this connection are sent, so that none overtakes another. */
    let sent = Promise.resolve()
    let waiting = 0
    const reply = (answer: Buffer) => {
      if (delayMs === 0 && waiting === 0) return void client.write(answer)
      const dueMs = performance.now() + delayMs
      waiting++
      sent = sent.then(async () => {
        await sleep(Math.max(0, dueMs - performance.now()))
        waiting--
        client.write(answer)
      })
    }
    for (const end of both) {
      ends.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        ends.delete(end)
        // A connection that vanished is not even closed.
        if (end.listenerCount('data') > 0)
          void sent.then(() => {
            for (const other of both) other.destroy()
          })
      })
    }
    client.on('data', (asked) => {
      if (resetAt !== undefined && asked.includes(resetAt)) {
        resetAt = undefined
        client.resetAndDestroy()
      } else if (lost !== 'all') server.write(asked)
    })
    server.on('data', (answer) => {
      if (lost !== 'nothing') return
      if (++replies % resetEvery === 0)
        client.write(answer.subarray(0, answer.length / 2), () => client.resetAndDestroy())
      else reply(answer)
    })
  })
  const cut = () => {
    for (const end of ends) end.destroy()
  }
  return {
    listen: () => once(proxy.listen(0, LOOPBACK), 'listening'),
    close() {
      cut()
      proxy.close()
    },
    /** Returns the address of the server through the proxy. */
    through(url: string): string {
      return Object.assign(new URL(url), { port: String((proxy.address() as AddressInfo).port) }).href
    },
    /** Breaks every connection. */
    cut,
    /** Breaks every connection, and resets each later one until `back` is called. */
    refuse() {
      refuses = true
      cut()
    },
    /** Makes every connection hang silently. Later connections work. */
    vanish() {
      for (const end of ends) end.removeAllListeners('data').resume()
    },
    /** Resets the connection on which this text is sent next, instead of passing it on. */
    resetAt(text: string) {
      resetAt = text
    },
    /** True once such a connection was reset. */
    hasReset: () => resetAt === undefined,
    /** Sends half of every nth reply and then resets its connection, until `resume` is called. */
    resetReplies(every: number) {
      resetEvery = every
    },
    /** Sends each reply so much later, until `resume` is called. */
    delay(ms: number) {
      delayMs = ms
    },
    /** Ends delays and resets. Connections that work stay open. */
    resume() {
      delayMs = 0
      resetEvery = Number.POSITIVE_INFINITY
    },
    /** Drops all replies, or all traffic, until `back` is called. */
    lose(what: 'answers' | 'all') {
      lost = what
    },
    /** Breaks every connection, also those that vanished. Later ones are neither refused nor silent. */
    back() {
      lost = 'nothing'
      refuses = false
      cut()
    },
  }
}

/** Opens a proxy to the server of this address at once. The caller closes it. */
export async function openFlakyProxy(url: string) {
  const proxy = flakyProxy(() => Number(new URL(url).port))
  await proxy.listen()
  return { ...proxy, url: proxy.through(url) }
}
