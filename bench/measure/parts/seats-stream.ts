/**
 * Measures the stream of a hall's sections: ten thousand listeners at one origin, and orders that change fifty
 * sections a second. The result is the time from sending an order until its change has reached each listener. A
 * smaller crowd has fewer listeners.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { EDGE_TOKEN_HEADER } from '../../../shared/api/internal.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { admin } from '../../lib/operator.ts'
import type { ListenersMessage, ListenersOrder, ListenersReport } from '../listeners.ts'
import { type Measured, nowMeasuring } from '../load.ts'
import { cpuSeconds } from '../processor.ts'
import { row, type Table } from '../rows.ts'
import { createSale, endSale, type Stage } from '../stage.ts'
import type { Bench } from '../table.ts'

const MAX_LISTENERS = 10_000
/** Each listener stands for this many people of the crowd. */
const CROWD_SHARE = 100
const PROCESSES = 2
const SECTIONS = 50
const PLACES = 10_000
const CHANGES_PER_SECOND = 50
/** A round usually takes ten seconds. */
const LENGTH_SHARE = 6.25
/** A change that has not arrived this long after the last one is lost. */
const LOST_MS = 6_000
const [SOON_MS, LATE_MS] = [2_000, 5_000]
const READY_TRIES = 100
const READY_EVERY_MS = 100

interface Change {
  readonly section: string
  readonly available: number
  readonly atMs: number
}

export async function* seatsStream(stage: Stage, { seconds, crowd }: Bench): AsyncGenerator<Table> {
  const count = Math.max(1, Math.min(MAX_LISTENERS, Math.floor(crowd / CROWD_SHARE)))
  const sale = await hallSale(stage)
  const children: ChildProcess[] = []
  try {
    nowMeasuring(`  opening ${n(count)} streams`)
    const opening = Array.from({ length: PROCESSES }, (_, i) => {
      const child = fork(fileURLToPath(new URL('../listeners.ts', import.meta.url)))
      children.push(child)
      const share = Math.floor((count * (i + 1)) / PROCESSES) - Math.floor((count * i) / PROCESSES)
      child.send(orderOf(stage, sale, share))
      return answerOf(child)
    })
    await Promise.all(opening)
    nowMeasuring(`  ${n(CHANGES_PER_SECOND)} changes a second to ${n(count)} listeners`)
    const pids = stage.system.origin ? [stage.system.origin.pid] : []
    const [cpuBefore, beganMs] = [cpuSeconds(pids), performance.now()]
    const changes = await change(stage, sale, seconds * LENGTH_SHARE)
    const [cpu, lengthSeconds] = [cpuSeconds(pids) - cpuBefore, (performance.now() - beganMs) / 1000]
    await sleep(LOST_MS)
    for (const child of children) child.send('report')
    const reports = await Promise.all(children.map((child) => answerOf<ListenersReport>(child)))
    const { within, ...measured } = delaysOf(reports, changes, count, { cpu, lengthSeconds })
    const shares = `${percent(within(SOON_MS))} within 2 s, ${percent(within(LATE_MS))} within 5 s`
    yield {
      title: `${n(count)} listeners to ${SECTIONS} sections, ${CHANGES_PER_SECOND} orders a second`,
      against: '',
      rows: [row(`each change at each listener: ${shares}`, measured, null, { p999Ms: SOON_MS })],
    }
  } finally {
    for (const child of children) child.kill()
    await endSale(stage, sale)
  }
}

const percent = (share: number) => `${(100 * share).toFixed(3)} %`

const orderOf = (stage: Stage, sale: string, share: number): ListenersOrder => {
  const { hostname, port } = new URL(stage.system.originUrl)
  return {
    host: hostname,
    port: Number(port),
    path: `/sales/${sale}/sections/updates`,
    headers: [`${EDGE_TOKEN_HEADER}: ${stage.system.secrets.edgeToken}`, 'accept: text/event-stream'],
    tokens: stage.mint(sale, share),
  }
}

async function answerOf<T extends ListenersMessage>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`listeners ended with ${code}`)))
  ended.catch(() => {})
  return (await Promise.race([once(child, 'message'), ended]))[0]
}

/** Creates a sale with standing sections whose gate is ready. */
async function hallSale(stage: Stage): Promise<string> {
  const sale = await createSale(stage)
  const sql = postgres(stage.system.databaseUrl, { max: 1, onnotice: () => {} })
  await sql`
    insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, section_type)
    select ${sale}, 'block-' || n, n, 'Block ' || n, 4900, 'EUR', ${PLACES + 1}, 'general_admission'
    from generate_series(1, ${SECTIONS}::int) n`
  await sql`insert into charts (sale_id) values (${sale})`
  await sql.end({ timeout: 2 })
  for (let tries = 1; ; tries++) {
    await admin(stage.system, 'POST', `/sales/${sale}/reconcile`)
    const ready = await Promise.all(blocks().map((section) => buy(stage, sale, section)))
    if (ready.every(({ status }) => status === 201)) return sale
    if (tries === READY_TRIES) throw new Error(`The hall is not for sale: ${await ready[0]?.text()}`)
    await sleep(READY_EVERY_MS)
  }
}

const blocks = () => Array.from({ length: SECTIONS }, (_, i) => `block-${i + 1}`)

async function buy(stage: Stage, sale: string, section_id: string): Promise<Response> {
  const [token] = stage.mint(sale, 1)
  return fetch(`${stage.system.originUrl}/sales/${sale}/checkout`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `bench-${section_id}-${performance.now()}`,
      [EDGE_TOKEN_HEADER]: stage.system.secrets.edgeToken,
    },
    body: JSON.stringify({ lines: [{ section_id, quantity: 1 }] }),
  })
}

/** Sends orders at the rate, in one section after the other. Each leaves one place fewer in its section. */
async function change(stage: Stage, sale: string, seconds: number): Promise<Change[]> {
  const state = (await (await admin(stage.system, 'GET', `/sales/${sale}`)).json()) as {
    products: { product_id: string; available: number }[]
  }
  const left = new Map(state.products.map(({ product_id, available }) => [product_id, available]))
  const beganMs = performance.now()
  const buying: Promise<Change>[] = []
  for (let i = 0; i < CHANGES_PER_SECOND * seconds; i++) {
    await sleep(Math.max(0, beganMs + (i * 1000) / CHANGES_PER_SECOND - performance.now()))
    const section = `block-${(i % SECTIONS) + 1}`
    const available = (left.get(section) ?? 0) - 1
    left.set(section, available)
    const atMs = Date.now()
    buying.push(
      buy(stage, sale, section).then(async (response) => {
        const text = await response.text()
        if (response.status !== 201) throw new Error(`An order was refused: ${response.status} ${text.slice(0, 200)}`)
        return { section, available, atMs }
      }),
    )
  }
  return Promise.all(buying)
}

/** The delay of each change at each listener; a change that never arrived counts as lost. */
function delaysOf(
  reports: readonly ListenersReport[],
  changes: readonly Change[],
  listeners: number,
  { cpu, lengthSeconds }: { cpu: number; lengthSeconds: number },
): Measured & { within: (ms: number) => number } {
  const events = eventsIn(reports[0]?.text ?? '')
  const steps = reports.flatMap((report) => report.steps)
  const histogram = new Histogram()
  const expected = changes.length * listeners
  let [counted, soon, late] = [0, 0, 0]
  for (const { section, available, atMs } of changes) {
    const seen = events.find((event) => event.section_id === section && event.available_seats <= available)
    if (!seen) continue
    for (const step of steps) {
      if (step.from >= seen.revision || step.to < seen.revision) continue
      const delayMs = step.atMs - atMs
      for (let i = 0; i < step.count; i++) histogram.add(delayMs)
      counted += step.count
      if (delayMs <= SOON_MS) soon += step.count
      if (delayMs <= LATE_MS) late += step.count
    }
  }
  const lost = expected - counted
  for (let i = 0; i < lost; i++) histogram.add(LOST_MS)
  const closed = reports.reduce((sum, report) => sum + report.closed, 0)
  return {
    perSecond: counted / lengthSeconds,
    ms: histogram.summary(),
    cpuMicros: counted > 0 ? (cpu * 1e6) / counted : null,
    clientCpu: 0,
    wrong: lost,
    why: `${closed} streams were closed, ${lost} of ${expected} changes never came`,
    within: (ms) => (ms <= SOON_MS ? soon : late) / expected,
  }
}

/** The events of a stream's text, each with the revision at the end of its text. */
function eventsIn(text: string) {
  const events: { revision: number; section_id: string; available_seats: number }[] = []
  let open = 0
  for (const [, base, part, data] of text.matchAll(/id: \w+\.(\d+)(\.\d+)?\ndata: (\{[^}]*\})/g)) {
    events.push({ revision: 0, ...(JSON.parse(data ?? '{}') as { section_id: string; available_seats: number }) })
    if (part !== undefined) continue
    for (; open < events.length; open++) Object.assign(events[open] ?? {}, { revision: Number(base) })
  }
  return events
}
