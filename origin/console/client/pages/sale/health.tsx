/** What the sale depends on, and what waits; and the findings, each with what to do. */

import type { Backlog } from '../../../../../shared/api/live.ts'
import { count, time } from '../../parts.tsx'
import type { Live } from './live-stream.ts'

type Finding = Live['findings'][number]

const EDGE_GONE_SECONDS = 15
const LATE_SECONDS = 60

interface Part {
  readonly name: string
  readonly text: string
  /** Null: nobody knows. */
  readonly isWell: boolean | null
}

/** Each thing that the sale depends on, and each backlog. */
function partsOf({ health, backlogs, environment, state }: Live): Part[] {
  const { ledger, redis, edge_seconds, workers, provider } = health
  const answers = (isWell: boolean) => (isWell ? 'answers' : 'does not answer')
  // The edge asks only about a sale that somebody looks at.
  const isLive = state.phase === 'open' || state.phase === 'all_in_carts'
  const edgeIsGone = isLive && (edge_seconds === null || edge_seconds > EDGE_GONE_SECONDS)
  const edge: Part = ledger
    ? {
        name: 'Edge',
        isWell: !edgeIsGone,
        text: edge_seconds === null ? 'has not asked yet' : `asked ${Math.round(edge_seconds)} s ago`,
      }
    : { name: 'Edge', isWell: null, text: 'not known without Postgres' }
  return [
    { name: 'Postgres', isWell: ledger, text: answers(ledger) },
    { name: 'Redis', isWell: redis, text: answers(redis) },
    edge,
    {
      name: 'Workers',
      isWell: workers === null ? null : workers > 0,
      text: workers === null ? 'not known without Redis' : workers === 0 ? 'none runs' : `${count(workers)} at work`,
    },
    {
      name: 'Payments',
      isWell: provider === null ? null : provider !== 'fails',
      text: `${environment.payments} ${PROVIDER[provider ?? 'unknown']}`,
    },
    ...Object.entries({ ...backlogs }).map(([name, backlog]) => ({
      name: NAMES[name] ?? name,
      ...backlogPart(backlog),
    })),
  ]
}

const PROVIDER = {
  answers: 'answers',
  fails: 'does not answer',
  unused: 'was not asked yet',
  unknown: 'is not known: no worker says',
} as const
const NAMES: Readonly<Record<string, string>> = {
  intents: 'Intents',
  charges: 'Charges',
  captures: 'Captures',
  refunds: 'Refunds',
  webhooks: 'Webhooks',
  mails: 'Mails',
}

function backlogPart(backlog: Backlog | null): Omit<Part, 'name'> {
  if (backlog === null) return { isWell: null, text: 'not known without Redis' }
  const { waiting, oldest_seconds: oldest } = backlog
  const since = oldest === null ? '' : `, the oldest for ${Math.round(oldest)} s`
  return {
    isWell: (oldest ?? 0) <= LATE_SECONDS,
    text: waiting === 0 ? 'none waiting' : `${count(waiting)} waiting${since}`,
  }
}

/** What to do about each part that fails. */
const REMEDIES: Readonly<Record<string, string>> = {
  Postgres: 'Start it again. Meanwhile orders are accepted within a bound; pause if it takes minutes.',
  Redis: 'Start it again. Meanwhile Postgres decides alone; nothing is lost.',
  Edge: 'Open the sale’s page. If it does not come, look at the edge’s log and at EDGE_TOKEN on both sides.',
  Workers: 'Start an origin with ROLE=worker or all. Nobody is charged and no hold ends until then.',
  Payments: 'Look at the provider’s status page. Charges are tried again; pause if it lasts longer than a hold.',
}
const LATE_REMEDY = 'See Queues, the provider, and whether enough workers run.'

/** Each part that fails, with its remedy; nothing where none does. */
export function Problems({ live }: { live: Live }) {
  const failing = partsOf(live).filter(({ isWell }) => isWell === false)
  if (failing.length === 0) return null
  return (
    <section class="card wrong" aria-label="What is wrong">
      <h2>What is wrong</h2>
      <ul class="findings">
        {failing.map(({ name, text }) => (
          <li key={name}>
            <b class="bad">
              {name} {text}
            </b>
            <p>{REMEDIES[name] ?? LATE_REMEDY}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function Health({ live }: { live: Live }) {
  const parts = partsOf(live)
  // What is wrong comes first.
  const rank = ({ isWell }: Part) => (isWell === false ? 0 : isWell === null ? 1 : 2)
  return (
    <section class="card" aria-label="Health">
      <h2>Health</h2>
      <ul class="health">
        {parts
          .toSorted((a, b) => rank(a) - rank(b))
          .map((part) => (
            <li key={part.name} class={part.isWell === null ? 'unknown' : part.isWell ? 'well' : 'ill'}>
              <b>{part.name}</b> <span>{part.text}</span>
            </li>
          ))}
      </ul>
    </section>
  )
}

/** What each kind of finding asks of a person. */
const WHAT_TO_DO: Readonly<Record<string, string>> = {
  fenced: 'Nothing: the gate is rebuilt from Postgres within seconds.',
  drift: 'Nothing: it is repaired. If it comes back, look for another program that writes to this Redis.',
  miscounted: 'Nothing: it is repaired from the orders.',
  oversold: 'Decide: add units, cancel the latest orders, or take from the buffer (reconcile with a decision).',
  unreadable_intent: 'Look at the intent: its buyer was told "processing".',
  unknown_charge: 'Look it up at the provider: it may belong to another system, or must be refunded there.',
  refund_failed: 'Refund it at the provider by hand.',
  capture_failed: 'Look it up at the provider: the order is confirmed, and its money was not taken.',
  wrong_amount: 'Nothing: it is refunded. Find out who made the charge.',
  refunded_outside: 'Decide whether the order is delivered all the same.',
  webhook_failed: 'Mend the endpoint, then replay its deliveries.',
  scheduled_failed: 'Do by hand what it was to do, or schedule it again.',
  scheduled_suspended: 'An owner decides: resume it or call it off, among the scheduled actions.',
  mail_failed: 'Check the address and the mail server.',
}

export function Findings({ findings }: Pick<Live, 'findings'>) {
  return (
    <section class="card" aria-label="Findings">
      <h2>Findings</h2>
      {findings.length === 0 ? (
        <p class="quiet">None is open.</p>
      ) : (
        <ul class="findings">
          {findings.map((finding) => (
            <FindingItem key={`${finding.kind} ${finding.subject} ${finding.product_id}`} finding={finding} />
          ))}
        </ul>
      )}
    </section>
  )
}

function FindingItem({ finding: { kind, product_id, subject, units, first_seen_at } }: { finding: Finding }) {
  return (
    <li>
      <b>{kind.replaceAll('_', ' ')}</b> {product_id} <code>{subject}</code> {units > 0 && `${count(units)} units`}{' '}
      <time datetime={first_seen_at}>since {time(first_seen_at)}</time>
      <br />
      {WHAT_TO_DO[kind] ?? 'See docs/operating.md.'}
    </li>
  )
}
