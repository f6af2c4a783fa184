/**
 * Measures what the console costs a sale: a steady open load of checkouts, in short rounds without and with operators
 * who watch. The rounds alternate so often that other load on the machine affects both equally. Each round is
 * compared with its neighbour, so that 1 % is visible.
 */
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { n } from '../../lib/figures.ts'
import { flat, type Measured, median, medianOf, nowMeasuring, openLoop } from '../load.ts'
import { cpuSeconds } from '../processor.ts'
import { type Aim, type Row, row, type Table } from '../rows.ts'
import { atOrigin, checkoutsOf, createSale, endSale, type Stage } from '../stage.ts'
import type { Bench } from '../table.ts'

const CHECKOUTS_PER_SECOND = 1_000
const VIEWERS = 3
/** The number of pairs of rounds, each without and with operators. */
const PAIRS = 12
/** A round usually takes four seconds, because a state is made once a second. */
const ROUND_SHARE = 2.5
/**
 * The third smallest and the third largest of twelve ratios are a 96 % interval of the median, for any distribution.
 */
const [LOW, HIGH] = [2, PAIRS - 3]
const AIM: Aim = { cpuRatio: 0.97 }
/**
 * The common beginning of every buyer's name, followed by letters that few share. Almost every key finds as many
 * orders as a search reads.
 */
const TYPED = 'bench-a1b2'
/** Each key causes a search. Each viewer searches for one order a minute, so one key is pressed in this time. */
const KEY_MS = 60_000 / (VIEWERS * TYPED.length)
const WARM_UP_SECONDS = 3
/** The streams are opened before the measurement starts. */
const SETTLE_MS = 300

export async function* besideConsole(stage: Stage, { seconds }: Bench): AsyncGenerator<Table> {
  const length = seconds * ROUND_SHARE
  const sale = await createSale(stage)
  try {
    const tokens = stage.mint(sale, Math.ceil(CHECKOUTS_PER_SECOND * (2 * PAIRS * length + WARM_UP_SECONDS)))
    const next = checkoutsOf(stage, sale, tokens)
    const load = (of: number) => openLoop(atOrigin(stage, of, next, 201), CHECKOUTS_PER_SECOND)
    await load(WARM_UP_SECONDS)
    const work = () => look(stage, sale)
    const working = await inPairs(() => load(length), work)
    // If there are no checkouts, whose own time varies with other load on the machine, a smaller cost is visible.
    const { pids } = atOrigin(stage, length, next, 201)
    const idle = await inPairs(() => cpuMsPerSecond(pids, length), work)
    const alone = medianOf(working.map(([without]) => without))
    const perSecond = ((alone.cpuMicros ?? 0) * CHECKOUTS_PER_SECOND) / 1000
    yield {
      title:
        `${n(CHECKOUTS_PER_SECOND)} checkouts a second beside the console, ${PAIRS} pairs of ` +
        `rounds of ${length} s`,
      against: 'of alone',
      rows: [
        row('durable checkout, nobody looks on', alone, null),
        beside(`${VIEWERS} look on, each searches once a minute`, working),
        costRow(
          `the first ${VIEWERS} without checkouts, as a share of theirs`,
          ...([flat(0), alone, idle.map(([without, by]) => (by - without) / perSecond)] as const),
        ),
      ],
    }
  } finally {
    await endSale(stage, sale)
  }
}

type Start = () => { stop(): void }
type Pairs<T> = readonly (readonly [without: T, beside: T])[]

async function inPairs<T>(measure: () => Promise<T>, start: Start): Promise<Pairs<T>> {
  const pairs: [T, T][] = []
  const besideViewers = async () => {
    const viewers = start()
    await sleep(SETTLE_MS)
    return measure().finally(() => viewers.stop())
  }
  for (let pair = 0; pair < PAIRS; pair++) {
    nowMeasuring(`  pair ${pair + 1} of ${PAIRS}`)
    // The order alternates, because anything that grows during the measurement must not count for only one of them.
    if (pair % 2 === 0) pairs.push([await measure(), await besideViewers()])
    else pairs.push([await besideViewers(), await measure()].reverse() as [T, T])
  }
  return pairs
}

async function cpuMsPerSecond(pids: readonly number[], seconds: number): Promise<number> {
  const [before, beganMs] = [cpuSeconds(pids), performance.now()]
  await sleep(seconds * 1000)
  return ((cpuSeconds(pids) - before) * 1e6) / (performance.now() - beganMs)
}

function beside(what: string, pairs: Pairs<Measured>): Row {
  const [alone, besides] = [0, 1].map((i) => medianOf(pairs.map((pair) => pair[i] as Measured))) as [Measured, Measured]
  const costs = pairs.map(([without, by]) => (by.cpuMicros ?? Number.NaN) / (without.cpuMicros ?? Number.NaN) - 1)
  return costRow(what, besides, alone, costs)
}

/** `costs` are the console's costs in each pair, as a share of the cost of checkouts. */
function costRow(what: string, measured: Measured, alone: Measured, costs: readonly number[]): Row {
  const sorted = costs.toSorted((a, b) => a - b)
  const percent = (cost = Number.NaN) => (cost * 100).toFixed(1)
  const spread =
    `costs ${percent(median(costs))} %, 96 % interval ${percent(sorted[LOW])} to ` + `${percent(sorted[HIGH])} %`
  return { ...row(`${what}: ${spread}`, measured, alone, AIM), ratio: null, cpuRatio: 1 / (1 + median(costs)) }
}

/** Opens the live sale for each viewer, and makes one of them press a key of a search at intervals. */
function look({ system }: Stage, sale: string): { stop(): void } {
  const ask = (path: string, accept: string) =>
    get(`${system.originUrl}${path}`, { headers: { authorization: `Bearer ${system.adminToken}`, accept } }, (answer) =>
      answer.resume().on('error', () => {}),
    ).on('error', () => {})
  const streams = Array.from({ length: VIEWERS }, () => ask(`/admin/sales/${sale}/live`, 'text/event-stream'))
  let keys = 0
  const typing = setInterval(() => {
    ask(`/admin/orders?q=${TYPED.slice(0, 1 + (keys++ % TYPED.length))}`, 'application/json')
  }, KEY_MS)
  return {
    stop() {
      clearInterval(typing)
      for (const stream of streams) stream.destroy()
    },
  }
}
