/** The head of the live page, which stays in sight, and its verdict: what is wrong first, then the parts. */
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import type { HealthSummary, Need } from '../../../../../shared/api/operators/live.ts'
import { clock } from '../../../../../shared/format.ts'
import { count, figure, time } from '../../format.ts'
import { saleQuery } from '../../frame/side.tsx'
import { may, session, shop } from '../../session.ts'
import { Icon } from '../../sheet/icon.tsx'
import { Dot, Phase, State } from '../../sheet/marks.tsx'
import { Head, Verdict } from '../../sheet/page.tsx'
import { Picture } from '../../sheet/picture.tsx'
import { type NoticeControl, RateControl, RestockControl } from './controls.tsx'
import { CopyMoment } from './copy-moment.tsx'
import { type Live, OLD_AFTER_MS } from './live-stream.ts'
import { MoreControls, PhaseControl } from './phase-controls.tsx'

interface LiveHeadProps {
  readonly live: Live
  readonly ageMs: number
  readonly nowMs: number
  readonly notices: readonly NoticeControl[]
}

export function LiveHead({ live, ageMs, nowMs, notices }: LiveHeadProps) {
  const { state, environment } = live
  const isOld = ageMs > OLD_AFTER_MS
  const { data: sale } = useQuery(saleQuery(state.sale))
  const href = shop.value === null ? null : `${shop.value}/sales/${state.sale}`
  return (
    <Head
      before={<Picture products={sale?.products ?? state.products} />}
      title={state.name}
      sub={
        <>
          <Phase phase={state.phase}> {clockOf(state, nowMs)}</Phase>
          {environment.test && <State level="info">Test sale: no money moves</State>}
          {isOld ? (
            <State level="bad">data is {Math.round(ageMs / 1000)} s old</State>
          ) : (
            <span>live, {Math.floor(ageMs / 1000)} s old</span>
          )}
          <code class="wide">{state.sale}</code>
          {href !== null && (
            <a class="public" href={href} target="_blank" rel="noreferrer" aria-label="Public page" title="Public page">
              <Icon name="ext" flip />
            </a>
          )}
        </>
      }
    >
      {may('operator') ? (
        state.phase !== 'ended' && (
          <fieldset class="controls row" id="controls" aria-label="Controls">
            <RateControl state={state} />
            <RestockControl state={state} isShort />
            {notices.map((Control) => (
              <Control key={Control.name} state={state} place="head" waiting={live.funnel.waiting} />
            ))}
            <MoreControls state={state} />
            <PhaseControl state={state} waiting={live.funnel.waiting} mayCome={live.funnel.may_come} />
          </fieldset>
        )
      ) : (
        <div class="row small" id="controls">
          <dl class="row facts-row">
            <Fact name="Rate" value={`${figure(state.admission.rate_per_second)} a second`} />
            <Fact name="Visitors read" value={state.announcement === null ? 'no announcement' : '1 announcement'} />
          </dl>
          <CopyMoment live={live} />
        </div>
      )}
    </Head>
  )
}

const Fact = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt class="quiet">{name}</dt>
    <dd>
      <b>{value}</b>
    </dd>
  </div>
)

/** How long the phase lasts, or how long until it begins. */
function clockOf({ phase, opens_at, ended_at }: Live['state'], nowMs: number): string {
  const untilOpen = (Date.parse(opens_at) - nowMs) / 1000
  if (phase === 'upcoming') return `opens in ${clock('en', Math.max(0, untilOpen))}`
  if (phase === 'ended') return ended_at === null ? '' : time(ended_at)
  return clock('en', Math.max(0, -untilOpen))
}

export function LiveVerdict({
  live: { state, summary, forecast, funnel },
  nowMs,
}: Pick<LiveHeadProps, 'live' | 'nowMs'>) {
  const { level, text, needs, parts } = summary
  const operator = session.value
  const isViewer = !may('operator')
  return (
    <>
      <Verdict
        level={state.phase === 'paused' && level === 'watch' ? 'info' : level}
        icon={state.phase === 'paused' ? 'pause' : level === 'good' ? 'check' : level === 'watch' ? 'warn' : 'bad'}
        text={isViewer ? text.replace(/needs? you/, (needed) => needed.replace('you', 'an operator')) : text}
        aside={asideOf(state, forecast, funnel, nowMs)}
        below={<Parts parts={parts} />}
      >
        {needs.length === 0
          ? undefined
          : needs.map((need, i) => <NeedItem key={`${need.part} ${i}`} need={need} state={state} nowMs={nowMs} />)}
      </Verdict>
      {isViewer && operator !== null && operator !== 'unknown' && (
        <p class="small quiet">
          You are {operator.name}, a viewer: you see everything and change nothing. An owner can make you an operator.
        </p>
      )}
    </>
  )
}

/** When it opens or sells out, in words that do not promise more than is known. */
function asideOf(state: Live['state'], { sold_out_at }: Live['forecast'], funnel: Live['funnel'], nowMs: number) {
  if (state.phase === 'upcoming')
    return (
      <>
        <strong>{funnel.waiting === null || funnel.waiting === 0 ? 'Nobody' : count(funnel.waiting)}</strong>{' '}
        {funnel.waiting ? 'in the lobby' : 'has joined yet'}
      </>
    )
  if (sold_out_at === null) return undefined
  const seconds = (Date.parse(sold_out_at) - nowMs) / 1000
  return seconds < 60 ? (
    <>Sells out within a minute</>
  ) : (
    <>
      Sells out at about <strong>{time(sold_out_at).slice(0, -3)}</strong>
    </>
  )
}

function NeedItem({ need, state, nowMs }: { need: Need; state: Live['state']; nowMs: number }) {
  const { what, since, advice, place } = need
  const seconds = Math.max(0, (nowMs - Date.parse(since)) / 1000)
  const isControls = place.href === '#controls'
  return (
    <li class={`is-${need.level}`}>
      <p>
        <b>{what}</b>{' '}
        <time datetime={since}>
          For {clock('en', seconds)}, since {time(since)}.
        </time>{' '}
        {advice}
      </p>
      {isControls ? (
        may('operator') && <PhaseControl state={state} isPlain />
      ) : place.href.startsWith('/console') ? (
        <Link class="btn" href={place.href}>
          {place.text}
        </Link>
      ) : (
        <a class="btn" href={place.href}>
          {place.text}
        </a>
      )}
    </li>
  )
}

const RANK = { bad: 0, watch: 1, unknown: 2, good: 3 } as const

/** The parts as a row of dots, which unfolds. */
function Parts({ parts }: Pick<HealthSummary, 'parts'>) {
  const well = parts.filter(({ level }) => level === 'good').length
  const sorted = parts.toSorted((a, b) => RANK[a.level] - RANK[b.level])
  return (
    <details class="parts" id="parts">
      <summary>
        <b>
          {well} of {parts.length} parts are well
        </b>
        {sorted.map(({ name, level }) => (
          <span key={name}>
            <Dot level={level} />
            {level === 'good' ? <span class="wide">{name}</span> : <b>{name}</b>}
          </span>
        ))}
        <span class="end turn">
          <Icon name="down" />
        </span>
      </summary>
      <dl>
        {sorted.map(({ name, level, text }) => (
          <div key={name}>
            <dt>
              <Dot level={level} /> {name}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
