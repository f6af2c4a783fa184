/**
 * Measures the feed of a sale with a post every two seconds, for readers who follow the page's script: a thousand
 * real ones through one cache, and calculated from them a hundred thousand in all data centres. The result is how
 * often a Worker runs, and how long after a post the readers see it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type System, startSystem } from '../../../dev/system.ts'
import { CACHE_TTL } from '../../../edge/http/cache.ts'
import type { Feed } from '../../../shared/api/public.ts'
import { nextPollMs } from '../../../shared/feed.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { HttpClient, requestText } from '../../lib/http.ts'
import { admin } from '../../lib/operator.ts'
import { seeded } from '../../lib/random.ts'
import { sharesOf } from '../../model/isolates.ts'
import { flat, type Measured, nowMeasuring } from '../load.ts'
import { row, type Table } from '../rows.ts'
import { admissionMint, createSale } from '../stage.ts'
import type { Bench } from '../table.ts'

const MODELLED = 100_000
const DATA_CENTRES = 330
/** Each real reader stands for this many people of the crowd. */
const CROWD_SHARE = 1_000
const MAX_READERS = 1_000
const CONNECTIONS = 64
const POST_EVERY_MS = 2_000
/** A round usually takes twenty seconds. */
const LENGTH_SHARE = 12.5
const CACHE_SECONDS = CACHE_TTL.feed.inCache
/** The value is the same as in edge/client/extras/posts.ts. */
const SPREAD = 0.25
/** The maximum delay is the sum of the time between reads, the cache, an isolate and the origin's process (0.5 s). */
const SEEN_WITHIN_MS = nextPollMs(0, false, 0) * (1 + SPREAD) + (CACHE_SECONDS + 1 + 0.5) * 1000
/** A post that is not seen within this time counts as lost. */
const LOST_MS = SEEN_WITHIN_MS + 3_000

export async function* feedReaders({ seconds, crowd }: Pick<Bench, 'seconds' | 'crowd'>): AsyncGenerator<Table> {
  const count = Math.max(1, Math.min(MAX_READERS, Math.floor(crowd / CROWD_SHARE)))
  const system = await startSystem({ cdn: true, originEnv: { LOG_LEVEL: 'error' } })
  try {
    const sale = await createSale({ system, mint: admissionMint(system.secrets.admissionKeys) })
    const { reads, delays, runs } = await readMeanwhile(system, sale, count, seconds * LENGTH_SHARE)
    const modelled = workerRuns(MODELLED, DATA_CENTRES)
    yield {
      title: `A feed with a post every ${POST_EVERY_MS / 1000} s`,
      against: '',
      rows: [
        row(`reads of ${n(count)} readers, through one cache`, reads, null),
        row('of which run a Worker', flat(runs), null, { mostPerSecond: 1 }),
        row('each post at each reader', delays, null, { slowestMs: SEEN_WITHIN_MS }),
        row(`${n(MODELLED)} readers in ${DATA_CENTRES} data centres, modelled: run a Worker`, flat(modelled), null, {
          mostPerSecond: DATA_CENTRES,
        }),
      ],
    }
  } finally {
    await system.stop()
  }
}

/**
 * The Worker runs per second for readers who each read at an independent moment. In each data centre the first read
 * after a copy has expired fetches the next.
 */
export function workerRuns(readers: number, dataCentres: number): number {
  const everySeconds = (nextPollMs(0, false, 0) * (1 + SPREAD / 2)) / 1000
  return sharesOf(dataCentres).reduce((sum, share) => {
    const perSecond = (readers * share) / everySeconds
    return sum + perSecond / (1 + perSecond * CACHE_SECONDS)
  }, 0)
}

async function readMeanwhile(system: System, sale: string, count: number, lengthSeconds: number) {
  const random = seeded(1)
  const client = new HttpClient({ url: system.edgeUrl, connections: CONNECTIONS })
  const text = requestText('GET', `/sales/${sale}/feed`, client.host, ['accept: application/json'])
  const [readMs, delayMs] = [new Histogram(), new Histogram()]
  let [wrong, why, isOver] = [0, '', false]
  /** Reads the feed after the latest post that the reader has seen. */
  const read = (seen: number) => {
    if (isOver) return
    client.send(text, ({ status, body, failure, sentMs, answeredMs }) => {
      if (isOver) return
      if (status !== 200) {
        why = `${++wrong}: ${status || failure}`
        return void setTimeout(read, POST_EVERY_MS, seen)
      }
      readMs.add(answeredMs - sentMs)
      const { posts, next_poll_ms } = JSON.parse(body) as Feed
      // The posts of the first read are not new.
      for (const post of posts) if (seen > 0 && post.n > seen) delayMs.add(Date.now() - Date.parse(post.at))
      setTimeout(read, next_poll_ms * (1 + SPREAD * random()), posts[0]?.n ?? 1)
    })
  }
  const post = () => admin(system, 'POST', `/sales/${sale}/feed`, { text: { en: 'News of the shop.' } })
  await post()
  nowMeasuring(`  ${n(count)} readers of a feed`)
  const pollMs = nextPollMs(0, false, 0)
  const stop = await system.cdn?.record('^/sales/[^/]+/feed')
  const beganMs = performance.now()
  for (let reader = 0; reader < count; reader++) setTimeout(read, pollMs * random(), 0)
  await sleep(pollMs)
  let posts = 0
  for (; (performance.now() - beganMs) / 1000 < lengthSeconds; posts++) {
    await post()
    await sleep(POST_EVERY_MS)
  }
  const all = posts * count
  for (const untilMs = performance.now() + LOST_MS; delayMs.summary().count < all && performance.now() < untilMs; )
    await sleep(100)
  isOver = true
  const seconds = (performance.now() - beganMs) / 1000
  const reached = await stop?.()
  client.close()
  const of = (histogram: Histogram): Measured => {
    const ms = histogram.summary()
    return { ...flat(ms.count / seconds), ms }
  }
  const lost = all - delayMs.summary().count
  return {
    reads: { ...of(readMs), wrong, why },
    delays: { ...of(delayMs), wrong: lost, why: `${n(lost)} of ${n(all)} were not seen` },
    runs: (reached?.fetches.length ?? 0) / seconds,
  }
}
