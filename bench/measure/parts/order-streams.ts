/**
 * Measures the event streams of orders: ten thousand are open at one origin, each for its own order, and the orders
 * are cancelled one after the other. The result is the time from a change, by the ledger's clock on this machine, to
 * its event. A smaller crowd has fewer streams.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { EDGE_TOKEN_HEADER } from '../../../shared/api/internal.ts'
import { listen } from '../../lib/event-stream.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { HttpClient, requestText } from '../../lib/http.ts'
import { type Measured, nowMeasuring } from '../load.ts'
import { cpuSeconds } from '../processor.ts'
import { row, type Table } from '../rows.ts'
import { checkoutText, createSale, endSale, type Stage } from '../stage.ts'
import type { Bench } from '../table.ts'

const MAX_STREAMS = 10_000
/** Each stream stands for this many people of the crowd. */
const CROWD_SHARE = 100
const AT_ONCE = 64
const CHANGES_PER_SECOND = 100
/** An event that has not arrived this long after the last change is lost. */
const LOST_MS = 6_000
const SOON_MS = 2_000

interface Followed {
  readonly token: string
  readonly order: string
}

export async function* orderStreams(stage: Stage, { crowd }: Bench): AsyncGenerator<Table> {
  const count = Math.max(1, Math.min(MAX_STREAMS, Math.floor(crowd / CROWD_SHARE)))
  const sale = await createSale(stage)
  const client = new HttpClient({ url: stage.system.originUrl, connections: AT_ONCE })
  const stops: (() => void)[] = []
  const delays: number[] = []
  try {
    nowMeasuring(`  opening ${n(count)} streams`)
    const followed = await each(stage.mint(sale, count), async (token, key): Promise<Followed> => {
      const { status, body } = await client.request(checkoutText(stage, client.host, sale, token, key))
      if (status !== 201) throw new Error(`A checkout responded ${status}: ${body.slice(0, 200)}`)
      return { token, order: (JSON.parse(body) as { order_id: string }).order_id }
    })
    await each(followed, (one) =>
      follow(stage, one, stops, (changedAtMs) => void delays.push(Date.now() - changedAtMs)),
    )
    nowMeasuring(`  ${n(CHANGES_PER_SECOND)} changes a second`)
    const pids = stage.system.origin ? [stage.system.origin.pid] : []
    const [cpuBefore, beganMs] = [cpuSeconds(pids), performance.now()]
    await giveBack(stage, client, followed)
    for (const untilMs = performance.now() + LOST_MS; delays.length < count && performance.now() < untilMs; )
      await sleep(SOON_MS / 20)
    const measured = measuredOf(delays, count, cpuSeconds(pids) - cpuBefore, (performance.now() - beganMs) / 1000)
    const soon = (100 * delays.filter((ms) => ms <= SOON_MS).length) / count
    yield {
      title: `${n(count)} streams of orders, ${n(CHANGES_PER_SECOND)} changes a second`,
      against: '',
      rows: [row(`each change in its stream: ${soon.toFixed(3)} % within 2 s`, measured, null, { p999Ms: SOON_MS })],
    }
  } finally {
    for (const stop of stops) stop()
    client.close()
    await endSale(stage, sale)
  }
}

/** Runs the work on several items at once. */
async function each<T, R>(all: readonly T[], work: (one: T, i: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const waiting = all.entries()
  const next = async () => {
    for (const [i, one] of waiting) results[i] = await work(one, i)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  return results
}

const headersOf = ({ system }: Stage, { token }: Followed) => ({
  authorization: `Bearer ${token}`,
  [EDGE_TOKEN_HEADER]: system.secrets.edgeToken,
})

/** Resolves at the first event; `changed` is called with the time of the next. */
function follow(stage: Stage, one: Followed, stops: (() => void)[], changed: (atMs: number) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let events = 0
  const stop = listen(`${stage.system.originUrl}/orders/${one.order}/events`, headersOf(stage, one), {
    answered: (status) => (status === 200 ? undefined : reject(new Error(`A stream responded ${status}.`))),
    received: (data) => (++events === 1 ? resolve() : changed(Date.parse((JSON.parse(data) as { at: string }).at))),
    ended: () => reject(new Error('A stream ended.')),
  })
  stops.push(stop)
  return promise
}

async function giveBack(stage: Stage, client: HttpClient, followed: readonly Followed[]): Promise<void> {
  const beganMs = performance.now()
  const answers: Promise<void>[] = []
  for (const [i, one] of followed.entries()) {
    const inMs = beganMs + (i * 1000) / CHANGES_PER_SECOND - performance.now()
    if (inMs > 0) await sleep(inMs)
    const headers = Object.entries(headersOf(stage, one)).map(([name, value]) => `${name}: ${value}`)
    answers.push(
      client.request(requestText('DELETE', `/orders/${one.order}`, client.host, headers)).then(({ status, body }) => {
        if (status !== 200) throw new Error(`An order was not given back: ${status} ${body.slice(0, 200)}`)
      }),
    )
  }
  await Promise.all(answers)
}

function measuredOf(delays: readonly number[], count: number, cpu: number, seconds: number): Measured {
  const histogram = new Histogram()
  for (const ms of delays) histogram.add(ms)
  const lost = count - delays.length
  for (let i = 0; i < lost; i++) histogram.add(LOST_MS)
  return {
    perSecond: delays.length / seconds,
    ms: histogram.summary(),
    cpuMicros: delays.length > 0 ? (cpu * 1e6) / delays.length : null,
    clientCpu: 0,
    wrong: lost,
    why: `${lost} of ${count} changes never came`,
  }
}
