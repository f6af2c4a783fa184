/** Checks of the stores, and of what happened to them while parts were killed. */
import { duration, median, n } from '../lib/figures.ts'
import { type Check, check, count, type Evidence, type FaultRecord, ifAny } from './evidence.ts'

export const storeChecks = (e: Evidence): Check[] => [
  storesAgree(e),
  ...(e.faults ? [neverOversold(e.faults), everyFaultPlayed(e.faults), recovered(e.faults)] : []),
  ...(e.faults?.failovers ? [gateUsedAgain(e.faults.failovers)] : []),
]

/** When all work has ended, the product's row, its orders, the gate and the stream must agree. */
function storesAgree({ stores, ownSystem }: Evidence): Check {
  const what = 'gate, stream and ledger agree'
  if ('unread' in stores) return check(what, ownSystem ? false : null, `stores: ${stores.unread}`)
  const { row, orders, gate, intents, holds, findings } = stores
  const available = row.total - row.held - row.sold
  const wrong = [
    row.held === orders.held && row.sold === orders.sold
      ? ''
      : `the row has ${row.held} held, ${row.sold} sold, its orders ${orders.held}, ${orders.sold}`,
    gate === null ? 'the gate is closed' : '',
    gate && (gate.available !== available || gate.held !== row.held)
      ? `the gate has ${gate.available} available, ${gate.held} held, the ledger ${available}, ${row.held}`
      : '',
    intents > 0 ? `${n(intents)} intents wait` : '',
    holds > 0 && row.held === 0 ? `${n(holds)} holds are left over` : '',
    ...findings.map((finding) => `the reconciler found ${finding}`),
  ].filter(Boolean)
  return check(what, wrong.length === 0, wrong.join('; ') || `${n(available)} available, ${n(row.sold)} sold`)
}

/** An oversell must not occur even for a moment. */
const neverOversold = ({ polls, oversold }: FaultRecord): Check =>
  check(
    'live orders never exceed the stock',
    polls > 0 && oversold === 0,
    `${n(polls)} polls of the ledger during the sale, ${n(oversold)} found more live units than the total`,
  )

/** A fault with no call in progress proves little. */
function everyFaultPlayed({ kills, network, steps, failovers, wipes, inFlight }: FaultRecord): Check {
  const times = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${n(count)}`)
      .join(', ')
  const said = [
    Object.keys(kills).length > 0 && `killed: ${times(kills)} times; Redis lost its data ${n(wipes)} times`,
    Object.keys(network).length > 0 && `network: ${times(network)} times`,
    Object.keys(steps).length > 0 && `deployed: ${times(steps)} times`,
    failovers && `Redis failed over ${n(failovers.length)} times`,
    `${n(inFlight)} checkouts and payments in flight`,
  ]
  return check(
    'every fault was played under load',
    Object.values({ ...kills, ...network, ...steps }).every((count) => count > 0) &&
      failovers?.length !== 0 &&
      inFlight > 0,
    said.filter(Boolean).join('; '),
  )
}

const recovered = ({ broken }: FaultRecord): Check =>
  check(
    'every part came back, and none ended by itself',
    broken.length === 0,
    broken.join('; ') || 'none did otherwise',
  )

/** The time after a failover within which the gate is to take reservations again. */
const FAILOVER_AIM_MS = 5_000

/** A gate that is used again later than its aim is no defect on a slow machine; one that never is fails. */
function gateUsedAgain(failovers: readonly (number | null)[]): Check {
  const times = failovers.filter((ms) => ms !== null).sort((a, b) => a - b)
  const [never, late] = [failovers.length - times.length, count(times, (ms) => ms > FAILOVER_AIM_MS)]
  return check(
    'the gate is used again after each failover',
    never > 0 ? false : late > 0 ? null : ifAny(times.length, true),
    `${n(failovers.length)} failovers; a reservation after ${duration(median(times))} (median) and ` +
      `${duration(times.at(-1) ?? 0)} (the slowest), ${n(never)} without one; the aim is ` +
      `${duration(FAILOVER_AIM_MS)}, and ${n(late)} took longer`,
  )
}
