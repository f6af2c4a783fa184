/** The third row of the live page: payments' health, what visitors read and who was turned away, and what was done. */
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import type { Figures } from '../../../../../shared/api/operators/report.ts'
import type { DeclineCode } from '../../../../../shared/api/public.ts'
import { clock } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { count, figure, instant, languageName, time } from '../../format.ts'
import { may, shop } from '../../session.ts'
import { Icon, type IconName } from '../../sheet/icon.tsx'
import { Bars } from '../../sheet/marks.tsx'
import { Section } from '../../sheet/page.tsx'
import { describe } from '../audit/sentences.ts'
import type { NoticeControl } from './controls.tsx'
import { byReason, type Live, totals } from './live-stream.ts'

export function Payments({ live }: { readonly live: Live }) {
  const { backlogs, health } = live
  const all = totals(live)
  const [paid, declined] = [all.confirmed ?? 0, all.declined ?? 0]
  const waiting = backlogs.charges.waiting + (backlogs.intents?.waiting ?? 0)
  const oldest = Math.max(backlogs.charges.oldest_seconds ?? 0, backlogs.intents?.oldest_seconds ?? 0)
  const times = health.provider_ms
  return (
    <Section title="Payments" aside={<span class="small quiet">{providerText(health.provider)}</span>}>
      <dl class="trio">
        <Figure
          name="Succeed"
          value={paid + declined === 0 ? null : figure((100 * paid) / (paid + declined))}
          unit="%"
        />
        <Figure name="Half within" value={secondsOf(times?.half)} unit="s" none="none now" />
        <Figure name="95 % within" value={secondsOf(times?.most)} unit="s" none="none now" />
      </dl>
      <p class="small quiet">
        {waitText(waiting, oldest)}
        {times !== null && ` Times: charges of all sales within the last minute, ${count(times.calls)}.`}
      </p>
      <Unpaid figures={all} />
    </Section>
  )
}

const CANCELLED: Readonly<Record<string, string>> = {
  declined: 'Declined for good',
  given_back: 'Given back by the buyer',
  not_authenticated: 'Not confirmed with the bank',
  payment_timeout: 'The provider did not answer',
  blocked: 'The visitor was blocked',
  by_shop: 'Cancelled by the shop',
  oversold: 'More sold than there is',
}
const DECLINES: Readonly<Record<string, string>> = {
  declined: 'The bank gave no reason',
  insufficient_funds: 'Not enough money',
  expired_card: 'The card has expired',
  incorrect_details: 'Details were wrong',
  authentication_failed: 'The bank’s check failed',
} satisfies Record<DeclineCode, string>

/** What became of the orders that were not paid, and why attempts to pay were declined. */
export function Unpaid({ figures }: { readonly figures: Figures }) {
  const { confirmed = 0, declined = 0, expired = 0 } = figures
  const ended = [
    ['Time to pay ran out', expired] as const,
    ...byReason(figures, 'cancelled.').map(([reason, many]) => [CANCELLED[reason] ?? inWords(reason), many] as const),
  ].filter(([, many]) => many > 0)
  const reasons = byReason(figures, 'declined.').map(([code, many]) => [DECLINES[code] ?? inWords(code), many] as const)
  return (
    <>
      {reasons.length > 0 && (
        <>
          <h3>
            Why {count(declined)} of {count(confirmed + declined)} were declined
          </h3>
          <Bars rows={reasons} />
        </>
      )}
      {ended.length > 0 && (
        <>
          <h3>Reserved and not paid</h3>
          <Bars rows={ended.toSorted(([, a], [, b]) => b - a)} />
        </>
      )}
    </>
  )
}

const waitText = (waiting: number, oldest: number) =>
  waiting === 0
    ? 'No charge waits.'
    : `${count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}, the oldest for ${clock('en', oldest)}.`

const secondsOf = (ms: number | undefined) => (ms === undefined ? null : (ms / 1000).toFixed(ms < 10_000 ? 2 : 0))

const providerText = (provider: Live['health']['provider']) =>
  provider === 'answers'
    ? 'the provider answers'
    : provider === 'fails'
      ? 'the provider does not answer'
      : 'not asked yet'

interface FigureProps {
  readonly name: string
  readonly value: string | null
  readonly unit?: string
  readonly none?: string
}

export const Figure = ({ name, value, unit, none = 'none yet' }: FigureProps) => (
  <div class="fig">
    <dt>{name}</dt>
    {value === null ? (
      <dd class="soon">{none}</dd>
    ) : (
      <dd class="big">
        {value} {unit !== undefined && <small>{unit}</small>}
      </dd>
    )}
  </div>
)

interface NoticesProps {
  readonly live: Live
  readonly controls: readonly NoticeControl[]
}

/** What visitors read now, with what features offer to change it, and who was turned away. */
export function Notices({ live, controls }: NoticesProps) {
  const { state, rules } = live
  const { announcement, pause_reason } = state
  const all = totals(live)
  const turnedAway = [
    ...rules.filter(({ met }) => met > 0).map(({ note, action, met }) => [note || action, met] as const),
    ...byReason(all, 'join_refused.').map(([reason, many]) => [`At joining: ${inWords(reason)}`, many] as const),
    ...byReason(all, 'refused.').map(([reason, many]) => [`At checkout: ${inWords(reason)}`, many] as const),
  ].toSorted(([, a], [, b]) => b - a)
  return (
    <Section
      title="What visitors read"
      aside={
        may('operator') &&
        controls.map((Control) => (
          <Control key={Control.name} state={state} place="notices" waiting={live.funnel.waiting} />
        ))
      }
    >
      {announcement === null && pause_reason === null && <p class="quiet">Nothing beside the page itself.</p>}
      {announcement && (
        <Words
          title={`${announcement.level === 'warning' ? 'A warning' : 'Announced'}, ${instant(announcement.since)}`}
          text={announcement.text}
        />
      )}
      {pause_reason && <Words title="Paused, because" text={pause_reason} />}
      {shop.value !== null && (
        <p class="small">
          <a href={`${shop.value}/sales/${state.sale}`} target="_blank" rel="noreferrer">
            See it
          </a>
        </p>
      )}
      <header>
        <h2>Turned away</h2>
        <Link class="end small" href={`/console/sales/${state.sale}/access`}>
          Rules and blocks
        </Link>
      </header>
      {turnedAway.length === 0 ? <p class="quiet">Nobody yet.</p> : <Bars rows={turnedAway} />}
    </Section>
  )
}

const inWords = (reason: string) => reason.replaceAll(/[-_]/g, ' ')

/** The first text as visitors read it; the others fold. */
export function Words({ title, text }: { title: string; text: Readonly<Record<string, string | undefined>> }) {
  const [first, ...others] = LANGUAGES.filter((language) => text[language] !== undefined)
  if (first === undefined) return null
  return (
    <div class="quote">
      <p class="small quiet">{title}</p>
      <p lang={first} dir="auto">
        {text[first]}
      </p>
      {others.length > 0 && (
        <details class="small">
          <summary class="quiet">and in {others.map(languageName).join(', ')}</summary>
          {others.map((language) => (
            <p key={language} lang={language} dir="auto">
              {text[language]}
            </p>
          ))}
        </details>
      )}
    </div>
  )
}

const SHOWN = 8
const REFRESH_MS = 5_000
export const ACTION_ICONS: Readonly<Record<string, IconName>> = {
  paused: 'pause',
  resumed: 'play',
  opened: 'flag',
  'rate set': 'rate',
  restocked: 'box',
  announced: 'horn',
  posted: 'horn',
  'rule added': 'rules',
  changed: 'edit',
  created: 'plus',
}

export function WhatWasDone({ sale }: { readonly sale: string }) {
  const { data } = useQuery({
    queryKey: ['audit', 'live', sale],
    queryFn: () => read(admin.audit.$get({ query: { sale, limit: String(3 * SHOWN) } })),
    refetchInterval: REFRESH_MS,
  })
  const entries = (data?.entries ?? []).filter(({ order_id }) => order_id === null).slice(0, SHOWN)
  return (
    <Section
      title="What was done"
      aside={
        <Link class="small" href={`/console/audit?sale=${sale}`}>
          Audit
        </Link>
      }
    >
      {data && entries.length === 0 && <p class="quiet">Nothing yet.</p>}
      <ol class="story">
        {entries.map((entry) => (
          <li key={entry.entry} class="is-info">
            <span class="mk">
              <Icon name={ACTION_ICONS[entry.action] ?? 'note'} />
            </span>
            <p>
              <b>{entry.operator}</b> {describe(entry).sentence ?? entry.action}
            </p>
            <time dateTime={entry.at}>{time(entry.at)}</time>
          </li>
        ))}
      </ol>
    </Section>
  )
}
