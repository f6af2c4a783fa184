/**
 * Measures what views cost a sale: checkouts at half the rate that the machine carries, without and with 5,000
 * beacons a second beside them, in batches as the edge gathers them; and how long a view takes to the console.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SaleViews } from '../../../shared/api/operators/views.ts'
import type { ViewEvent } from '../../../shared/api/views/view-events.ts'
import { Histogram } from '../../lib/histogram.ts'
import { HttpClient, requestText } from '../../lib/http.ts'
import { admin } from '../../lib/operator.ts'
import { contest, flat, type Measured, openLoop, openLoopRequests } from '../load.ts'
import { row, type Table } from '../rows.ts'
import { atOrigin, checkoutsOf, createSale, durableCheckouts, endSale, type Stage } from '../stage.ts'
import type { Bench } from '../table.ts'

const VIEWS_PER_SECOND = 5_000
/** An isolate of the edge sends its views when it has so many. */
const BATCH = 500
const BUYERS = 256
/** Rounds are longer than of other parts, because views are written once a second. */
const SECONDS = 6
const POLL_MS = 200
const SHOWN_WITHIN_MS = 60_000

export async function* views(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const most = await durableCheckouts(stage, SECONDS, BUYERS)
  const perSecond = Math.floor(most.perSecond / 2)
  const { alone, beside, only } = await contest(bench.rounds, {
    alone: () => checkouts(stage, perSecond),
    only: () => viewsAlone(stage),
    beside: () => withViews(stage, () => checkouts(stage, perSecond)),
  })
  const ownMicros = ((only.cpuMicros ?? 0) * VIEWS_PER_SECOND) / perSecond
  const rest = { ...beside, cpuMicros: beside.cpuMicros && beside.cpuMicros - ownMicros }
  const shown = await withViews(stage, async () => {
    const [delay] = await Promise.all([delayToConsole(stage, bench.rounds), checkouts(stage, perSecond)])
    return delay
  })
  yield {
    title: `Views, ${perSecond} checkouts a second`,
    against: 'of alone',
    rows: [
      row('checkouts alone', alone, null),
      row('views alone, each', only, null),
      row('checkouts beside 5,000 views a second, with the views', beside, alone, { ratio: 0.97 }),
      row('checkouts beside them, without the views’ own time', rest, alone, { cpuRatio: 1 / 1.03 }),
      row('a view until the console shows it', shown, null, { slowestMs: 10_000 }),
    ],
  }
}

/** The time of one view, from the batches of a few seconds. */
async function viewsAlone(stage: Stage): Promise<Measured> {
  const sale = await createSale(stage)
  const load = atOrigin(stage, SECONDS, ({ host }) => batchText(stage, host, sale, BATCH), 204)
  const batches = await openLoop(load, VIEWS_PER_SECOND / BATCH)
  await endSale(stage, sale)
  return {
    ...batches,
    perSecond: batches.perSecond * BATCH,
    cpuMicros: batches.cpuMicros && batches.cpuMicros / BATCH,
  }
}

async function checkouts(stage: Stage, perSecond: number): Promise<Measured> {
  const sale = await createSale(stage)
  const tokens = stage.mint(sale, openLoopRequests(SECONDS, perSecond))
  const measured = await openLoop(atOrigin(stage, SECONDS, checkoutsOf(stage, sale, tokens), 201), perSecond)
  await endSale(stage, sale)
  return measured
}

/** Sends views of a sale, evenly, while something else is measured. */
async function withViews<T>(stage: Stage, act: () => Promise<T>): Promise<T> {
  const sale = await createSale(stage)
  const client = new HttpClient({ url: stage.system.originUrl, connections: 8 })
  const everyMs = (1000 * BATCH) / VIEWS_PER_SECOND
  let failure = ''
  const timer = setInterval(() => {
    client.send(batchText(stage, client.host, sale, BATCH), (answer) => {
      if (answer.status !== 204) failure ||= `${answer.status || answer.failure} ${answer.body.slice(0, 200)}`
    })
  }, everyMs)
  try {
    const measured = await act()
    if (failure) throw new Error(`The origin did not take views: ${failure}`)
    return measured
  } finally {
    clearInterval(timer)
    client.close()
    await endSale(stage, sale)
  }
}

const hex = (length: number) => randomUUID().replaceAll('-', '').slice(0, length)

/** The call of an isolate. Each view is of another visitor. */
function batchText({ system }: Stage, host: string, sale: string, size: number): string {
  const events = Array.from(
    { length: size },
    (_, at): ViewEvent => ({
      view: hex(22),
      page: 'line',
      sale,
      seen_seconds: 0,
      at_ms: Date.now(),
      pseudonym: hex(16),
      address: hex(16),
      network: `203.0.${at % 100}.0/24`,
      asn: 3_320,
      country: 'DE',
      device: 'phone',
      language: 'de',
      source: at % 2 === 0 ? 'newsletter' : 'typed',
    }),
  )
  const body = JSON.stringify({ dropped: 0, events })
  return requestText('POST', '/internal/views', host, [`authorization: Bearer ${system.secrets.edgeToken}`], body)
}

/** How long single views of a quiet sale take to the counts that the console reads, one after the other. */
async function delayToConsole(stage: Stage, views: number): Promise<Measured> {
  const { system } = stage
  const sale = await createSale(stage)
  const client = new HttpClient({ url: system.originUrl, connections: 1 })
  const delays = new Histogram()
  try {
    for (let view = 1; view <= views; view++) {
      const beganMs = performance.now()
      const { status } = await client.request(batchText(stage, client.host, sale, 1))
      if (status !== 204) throw new Error(`The origin answered ${status} to a view.`)
      while ((await countedViews(stage, sale)) < view) {
        if (performance.now() - beganMs > SHOWN_WITHIN_MS) throw new Error('A view was not counted.')
        await sleep(POLL_MS)
      }
      delays.add(performance.now() - beganMs)
    }
  } finally {
    client.close()
    await endSale(stage, sale)
  }
  return { ...flat(0), ms: delays.summary() }
}

async function countedViews({ system }: Stage, sale: string): Promise<number> {
  const response = await admin(system, 'GET', `/sales/${sale}/views?by=page`)
  return ((await response.json()) as SaleViews).counted
}
