/**
 * Summarises the health of a sale. The input is all that the live page shows; the result decides the colour of each
 * part of the page, what is wrong with it and since when, what buyers notice, and which page to open. Pure.
 */
import type { SaleState } from '../../../shared/api/internal.ts'
import type { HealthSummary, Level, LiveReading, Need, Part, Place } from '../../../shared/api/operators/live.ts'
import type { Backlog, Minute } from '../../../shared/api/operators/report.ts'
import { clock } from '../../../shared/format.ts'
import type { QueueName } from '../../jobs/queues.ts'
import { type About, FINDING_ADVICE } from './finding-advice.ts'

export interface Situation extends Pick<LiveReading, 'health' | 'backlogs' | 'findings' | 'minutes' | 'environment'> {
  readonly saleId: string
  readonly phase: SaleState['phase']
  /** The number of calls per second that the provider accepts; null means no limit. */
  readonly paymentsPerSecond: number | null
  /** True if held + sold + free equals the total, in the ledger and at the gate. */
  readonly addsUp: boolean
  readonly nowMs: number
  /** The sale's page for buyers; null if the origin is not configured with its address. */
  readonly shopUrl: string | null
}

/** A problem of a part. Without `sinceMs` it counts from the first summary that had it. */
type Trouble = Omit<Need, 'part' | 'since'> & { readonly sinceMs?: number }
interface Checked extends Omit<Part, 'level'> {
  /** The value is null if the state of the part is unknown. */
  readonly troubles: readonly Trouble[] | null
}

/** The edge calls once a second while a sale is live, so this many missed calls mean that it is gone. */
const EDGE_GONE_SECONDS = 15
/** Work that has waited longer than this is late. */
const LATE_SECONDS = 60
/** If charges wait longer than this at the provider's rate, it is more than one busy second. */
const LIMIT_SECONDS = 2

/** `before` is the last summary. It says since when each problem exists. */
export function summaryOf(situation: Situation, before: HealthSummary | undefined): HealthSummary {
  const checked = [...dependencies(situation), ...backlogs(situation), ...course(situation)]
  const since = (part: string, what: string) =>
    before?.needs.find((need) => need.part === part && need.what === what)?.since ??
    new Date(situation.nowMs).toISOString()
  const needs = checked
    .flatMap(({ name: part, troubles }) =>
      (troubles ?? []).map(({ sinceMs, ...trouble }) => ({
        part,
        ...trouble,
        since: sinceMs === undefined ? since(part, trouble.what) : new Date(sinceMs).toISOString(),
      })),
    )
    .sort((a, b) => RANK[b.level] - RANK[a.level])
  const level = worst(needs)
  return {
    level,
    text: storeText(situation) ?? `${stateText(situation, level)} ${demandText(needs.length, level)}`,
    needs,
    parts: checked.map(({ name, text, troubles }) => ({ name, text, level: troubles ? worst(troubles) : 'unknown' })),
  }
}

const RANK = { good: 0, watch: 1, bad: 2 } as const
const worst = (of: readonly { readonly level: Level }[]) =>
  of.reduce<Level>((level, one) => (RANK[one.level] > RANK[level] ? one.level : level), 'good')

const IN_WORDS = ['Nothing needs', 'One thing needs', 'Two things need', 'Three things need', 'Four things need']
const demandText = (needs: number, level: Level) =>
  `${IN_WORDS[needs] ?? `${needs} things need`} you${level === 'bad' ? ' now' : ''}.`

/** What an open sale does without one of its stores, and what to do; null if both serve. */
function storeText({ phase, health: { ledger, redis } }: Situation): string | null {
  if (phase !== 'open' || (ledger && redis)) return null
  if (ledger) return 'Selling without the gate. Get Redis back.'
  return redis ? 'Orders wait to be recorded. Leave the sale open.' : 'Nothing is sold. Get Redis and Postgres back.'
}

function stateText({ phase, minutes }: Situation, level: Level): string {
  switch (phase) {
    case 'upcoming':
      return level === 'bad' ? 'Not ready to open.' : 'Ready to open.'
    case 'paused':
      return 'Paused; everyone keeps their place.'
    case 'all_in_carts':
      return 'All units are in carts; some may come back.'
    case 'sold_out':
      return 'Sold out.'
    case 'ended':
      return 'The sale is over.'
    case 'open':
      if (level === 'bad') return 'Open, and in trouble.'
      if (minutes.slice(-2).some(({ counts }) => (counts.reserved ?? 0) > 0)) return 'Selling well.'
      return (minutes.at(-1)?.gauges.waiting ?? 0) > 0 ? 'Open.' : 'Open; nobody waits.'
  }
}

const queues = (queue: string): Place => ({ text: 'Open Queues', href: `/console/queues#${queue}` })
const PARTS: Place = { text: 'See all parts', href: '#parts' }
/** The console shows the button of this name itself, to those who may press it. */
const control = (text: string): Place => ({ text, href: '#controls' })
const bad = (what: string, advice: string, place: Place): Trouble => ({ level: 'bad', what, advice, place })
const watch = (what: string, advice: string, place: Place): Trouble => ({ level: 'watch', what, advice, place })
const isLive = ({ phase }: Situation) => phase === 'open' || phase === 'all_in_carts'
const shopOf = ({ shopUrl }: Situation): Place => (shopUrl ? { text: 'Open the sale’s page', href: shopUrl } : PARTS)

// -- What the sale depends on ------------------------------------------------------------------------------------

function dependencies(situation: Situation): Checked[] {
  const { health, environment } = situation
  const { ledger, redis, workers, provider } = health
  const postgresAway = bad(
    'Postgres does not answer, or refuses all writes.',
    redis
      ? 'Buyers read "processing": orders are accepted within a bound, and recorded when it is back. Nothing can ' +
          'be changed here meanwhile. Start it again, or give it disk.'
      : 'Nothing is sold, and everyone keeps their place. Start Redis and Postgres again, or give them memory and disk.',
    PARTS,
  )
  const redisAway = bad(
    'Redis does not answer, or refuses all writes.',
    'Buyers wait a little longer: Postgres decides alone, exactly and more slowly. Start it again, or give it memory, and let the ' +
      'sale run.',
    PARTS,
  )
  const noWorker = bad(
    'No worker runs.',
    'Nobody is charged, and no hold ends. Start an origin with ROLE=worker or all.',
    queues('charge'),
  )
  const providerFails = bad(
    'The provider of payments does not answer.',
    'Buyers read that their payment is being made. It is tried again; pause if that lasts longer than a hold.',
    control('Pause'),
  )
  return [
    { name: 'Postgres', text: ledger ? 'answers' : 'serves nothing', troubles: ledger ? [] : [postgresAway] },
    { name: 'Redis', text: redis ? 'answers' : 'serves nothing', troubles: redis ? [] : [redisAway] },
    edge(situation),
    {
      name: 'Workers',
      text: workers === null ? 'not known without Redis' : workers === 0 ? 'none runs' : `${workers} at work`,
      troubles: workers === null ? null : workers === 0 ? [noWorker] : [],
    },
    {
      name: 'Payments',
      text: `${environment.payments} ${PROVIDER[provider ?? 'unknown']}`,
      troubles: provider === null ? null : provider === 'fails' ? [providerFails] : [],
    },
  ]
}

const PROVIDER = {
  answers: 'answers',
  fails: 'does not answer',
  unused: 'was not asked yet',
  unknown: 'is not known: no worker says',
} as const

function edge(situation: Situation): Checked {
  const { health, nowMs } = situation
  const { ledger, edge_seconds: seconds } = health
  if (!ledger) return { name: 'Edge', text: 'not known without Postgres', troubles: null }
  const gone = {
    ...bad(
      'The edge has not asked for a while.',
      'Nobody is called until it does. If the sale’s page does not come, look at the edge’s log and at ' +
        'EDGE_TOKEN on both sides.',
      shopOf(situation),
    ),
    ...(seconds !== null && { sinceMs: nowMs - 1000 * seconds }),
  }
  // The edge calls only about a sale that visitors look at.
  const isGone = isLive(situation) && (seconds === null || seconds > EDGE_GONE_SECONDS)
  return {
    name: 'Edge',
    text: seconds === null ? 'has not asked yet' : `asked ${Math.round(seconds)} s ago`,
    troubles: isGone ? [gone] : [],
  }
}

// -- What waits --------------------------------------------------------------------------------------------------

const BACKLOGS = [
  ['intents', 'Intents', 'bad', 'Buyers read "processing". See whether Postgres and the workers keep up.', PARTS],
  [
    'charges',
    'Charges',
    'bad',
    'Buyers wait for their payment. See the provider, and whether enough workers run.',
    queues('charge'),
  ],
  [
    'captures',
    'Captures',
    'watch',
    'No buyer notices. Authorizations last for days; see what fails.',
    queues('capture'),
  ],
  ['refunds', 'Refunds', 'watch', 'Buyers wait for their money. See what fails.', queues('refund')],
  [
    'webhooks',
    'Webhooks',
    'watch',
    'No buyer notices; nothing is lost for 24 hours. See which endpoint does not answer.',
    queues('webhook'),
  ],
  ['mails', 'Mails', 'watch', 'Buyers wait for their mail. See whether the mail server answers.', queues('mail')],
] as const

const isLate = ({ oldest_seconds }: Pick<Backlog, 'oldest_seconds'>) => (oldest_seconds ?? 0) > LATE_SECONDS

/**
 * Returns the seconds until a new charge can be tried if the provider's rate makes charges wait, and null if it does
 * not.
 */
function paymentDelay({ waiting }: Pick<Backlog, 'waiting'>, perSecond: number | null): number | null {
  const seconds = perSecond === null ? 0 : waiting / perSecond
  return seconds > LIMIT_SECONDS ? seconds : null
}

/** Rates the backlog of a queue in the terms of a sale's parts. */
export function levelOf(
  queue: QueueName,
  backlog: Pick<Backlog, 'waiting' | 'oldest_seconds'>,
  perSecond: number | null,
): Level {
  if (queue === 'charge' && paymentDelay(backlog, perSecond) !== null) return 'watch'
  if (!isLate(backlog)) return 'good'
  return BACKLOGS.find(([, , , , place]) => place.href === queues(queue).href)?.[2] ?? 'watch'
}

const backlogs = ({ backlogs, paymentsPerSecond, nowMs }: Situation): Checked[] =>
  BACKLOGS.map(([of, name, level, advice, place]) => {
    const backlog = backlogs[of]
    if (backlog === null) return { name, text: 'not known without Redis', troubles: null }
    const { waiting, oldest_seconds: oldest } = backlog
    const sinceMs = nowMs - 1000 * (oldest ?? 0)
    const delay = of === 'charges' ? paymentDelay(backlog, paymentsPerSecond) : null
    const limited = watch(
      `Payments are the limit: ${paymentsPerSecond} a second, and charges wait ${clock('en', delay ?? 0)}.`,
      'Buyers keep what they are paying for, and fewer are called meanwhile. Ask the provider for more calls a ' +
        'second, then raise PAYMENTS_PER_SECOND.',
      place,
    )
    const late = { level, what: `${name} wait: ${waiting.toLocaleString('en')}.`, advice, place, sinceMs }
    return {
      name,
      text:
        waiting === 0 ? 'none waits' : `${waiting.toLocaleString('en')} wait, the oldest ${clock('en', oldest ?? 0)}`,
      troubles: delay !== null ? [limited] : isLate(backlog) ? [late] : [],
    }
  })

// -- How the sale goes -------------------------------------------------------------------------------------------

function course(situation: Situation): Checked[] {
  const { addsUp, phase, findings, saleId } = situation
  const wrong = bad(
    'Stock does not add up.',
    'The reconciler repairs it within seconds; see the findings if it stays.',
    {
      text: 'Go to the stock',
      href: '#stock',
    },
  )
  const paused = watch(
    'The sale is paused.',
    'Nobody is called and nobody can check out. Resume when it can go on.',
    control('Resume'),
  )
  const seen = findings.map(({ kind, product_id, subject, units, detail, first_seen_at }) => {
    const { level, advice, place } = FINDING_ADVICE[kind] ?? FINDING_ADVICE.unknown
    const about = [product_id, subject, units > 0 && `${units} ${units === 1 ? 'unit' : 'units'}`].filter(Boolean)
    return {
      level,
      what: `Found: ${[kind.replaceAll('_', ' '), ...about].join(', ')}.`,
      advice,
      place: place({ saleId, orderId: orderIn(detail) }),
      sinceMs: new Date(first_seen_at).getTime(),
    }
  })
  return [
    { name: 'Stock', text: addsUp ? 'adds up' : 'does not add up', troubles: addsUp ? [] : [wrong] },
    { name: 'Sale', text: phase.replaceAll('_', ' '), troubles: phase === 'paused' ? [paused] : [] },
    arrivals(situation),
    { name: 'Findings', text: findings.length === 0 ? 'none is open' : `${findings.length} open`, troubles: seen },
  ]
}

function orderIn(detail: unknown): About['orderId'] {
  const { order } = (detail ?? {}) as { order?: unknown }
  return typeof order === 'string' ? order : null
}

/** If fewer visitors were called, it may be chance that none arrived. */
const MANY_CALLED = 20
/** The visitors called last get this much time to arrive. */
const TO_COME_MS = 30_000

/**
 * Checks that some of the visitors called in the last minutes arrived, leaving out those who had no time to arrive
 * yet.
 */
function arrivals(situation: Situation): Checked {
  const { minutes, nowMs } = situation
  const known = minutes.filter(({ gauges }) => gauges.called !== undefined && gauges.edge_at_ms !== undefined)
  const [last] = known.slice(-1)
  if (!last) return { name: 'Arrivals', text: 'nobody is called yet', troubles: [] }
  const settled = known.findLast(({ gauges }) => nowMs - (gauges.edge_at_ms ?? nowMs) >= TO_COME_MS)
  const before = settled && known[known.indexOf(settled) - 1]
  const grown = (name: string, from: Minute | undefined, to: Minute | undefined) =>
    Math.max(0, (to?.gauges[name] ?? 0) - (from?.gauges[name] ?? 0))
  const called = grown('called', before, settled)
  const arrived = grown('arrived', before, last)
  const nobody = bad(
    `${called} were called, and nobody came.`,
    'The way to the checkout may be broken: open the sale’s page, and go through it as a buyer.',
    shopOf(situation),
  )
  const isWrong = isLive(situation) && situation.health.redis && called >= MANY_CALLED && arrived === 0
  return {
    name: 'Arrivals',
    text: isWrong ? 'nobody comes' : `${last.gauges.arrived ?? 0} came of ${last.gauges.called} called`,
    troubles: isWrong ? [nobody] : [],
  }
}
