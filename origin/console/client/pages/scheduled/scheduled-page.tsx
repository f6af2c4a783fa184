/** The scheduled actions of a sale: what comes, what is over with its reason, and a form for a new one. */
import './scheduled.css'
import { useQuery } from '@tanstack/preact-query'
import type { ScheduledRun } from '../../../../../shared/api/operators/answers.ts'
import type { ScheduledEffect } from '../../../../../shared/api/operators/requests.ts'
import { roughly } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { moment } from '../../format.ts'
import { Confirm, Failure, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Icon, type IconName } from '../../sheet/icon.tsx'
import { Columns, Head, Section } from '../../sheet/page.tsx'
import { soldBy } from '../../sold-by.ts'
import { inUtc, inWords, type Product } from './actions.ts'
import { ScheduleForm } from './schedule-form.tsx'

const REFRESH_MS = 2_000
/** The name and products of a sale change rarely. */
const SALE_REFRESH_MS = 30_000

const calls = admin.sales[':sale']
const readScheduled = (sale: string) => read(calls.scheduled.$get({ param: { sale } }))
type Action = Awaited<ReturnType<typeof readScheduled>>['scheduled'][number]

const ICONS: Readonly<Record<ScheduledEffect['action'], IconName>> = {
  restock: 'box',
  rate: 'rate',
  price: 'sales',
  pause: 'pause',
  resume: 'play',
  end: 'x',
  announce: 'horn',
  report: 'report',
  export: 'save',
}

export function ScheduledPage({ sale }: { sale: string }) {
  const { data: about } = useQuery({
    queryKey: ['sale', sale],
    queryFn: () => read(calls.$get({ param: { sale } })),
    refetchInterval: SALE_REFRESH_MS,
  })
  const { data, error } = useQuery({
    queryKey: ['scheduled', sale],
    queryFn: () => readScheduled(sale),
    refetchInterval: REFRESH_MS,
  })
  useTitle('Scheduled · Console')
  const products = soldBy(about?.products ?? [])
  // Seats have their own prices and are imported, so they have no restock.
  const withUnits = products.filter(({ section_type }) => section_type !== 'reserved')
  const toCome = data?.scheduled.filter((one) => one.next_at !== null || one.suspended) ?? []
  const past = data?.scheduled.filter((one) => one.next_at === null && !one.suspended) ?? []
  const zone = about?.time_zone ?? ''
  return (
    <>
      <Head title="Scheduled actions" sub={`of ${about?.name ?? sale}${zone && `; repeated ones follow ${zone}`}`} />
      <Failure error={error} />
      <Columns split="repeat(2, minmax(0, 1fr))">
        <Section title="To come" aside={toCome.length > 1 && <span class="small quiet">the next first</span>}>
          {data && toCome.length === 0 && <p class="quiet">Nothing is scheduled.</p>}
          <ol class="story">
            {toCome.map((one) => (
              <ToCome key={one.action_id} sale={sale} action={one} products={products} zone={zone} />
            ))}
          </ol>
        </Section>
        <Section title="Over" aside={past.length > 1 && <span class="small quiet">the newest first</span>}>
          {data && past.length === 0 && <p class="quiet">Nothing is over.</p>}
          <ol class="story">
            {past.map((one) => (
              <Over key={one.action_id} sale={sale} action={one} products={products} />
            ))}
          </ol>
        </Section>
      </Columns>
      {may('operator') && about && about.phase !== 'ended' && (
        <ScheduleForm sale={sale} products={withUnits} zone={about.time_zone} />
      )}
    </>
  )
}

interface ActionProps {
  readonly sale: string
  readonly action: Action
  readonly products: readonly Product[]
}

function ToCome({ sale, action: one, products, zone }: ActionProps & { readonly zone: string }) {
  const { suspended, cron, next_at, not_after, operator, runs } = one
  const text = inWords(one, products)
  const at = next_at ?? suspended?.due_at ?? ''
  const inSeconds = (Date.parse(at) - Date.now()) / 1_000
  const param = { sale, action: one.action_id }
  return (
    <li class={suspended ? 'is-watch' : 'is-info'}>
      <span class="mk">
        <Icon name={ICONS[one.action]} />
      </span>
      <div class="stack">
        <p>
          <b>{text}</b>
        </p>
        <p class="small quiet">
          {!suspended && inSeconds > 0 && `in about ${roughly('en', inSeconds)}; `}by {operator}
          {cron !== null && (
            <>
              , again and again: <code>{cron}</code> {zone}
            </>
          )}
          {not_after !== null && `; not later than ${moment(not_after)}`}
        </p>
        {suspended && (
          <p class="failed">
            Suspended {moment(suspended.at)}: {operator} was {suspended.reason} by {suspended.by}.
          </p>
        )}
        <Runs sale={sale} action={one.action_id} runs={runs} />
        <p class="row">
          {may('operator') && !suspended && <RunNow param={param} text={text} at={at} isRepeated={cron !== null} />}
          {may('owner') && suspended && (
            <Confirm
              action="Resume"
              effect={`"${text}" will happen again, in your name.`}
              onConfirm={async () => {
                await calls.scheduled[':action'].resume.$post({ param })
                return { text: `"${text}" will happen, in your name.` }
              }}
            />
          )}
          {may('operator') && (
            <Confirm
              action="Call off"
              look="bare"
              effect={
                `"${text}" will not happen${cron === null ? '' : ' any more'}. It ` +
                'stays in the list of what is over. There is no undo but to schedule it again.'
              }
              onConfirm={async () => {
                await calls.scheduled[':action'].$delete({ param })
                return { text: `"${text}" will not happen.` }
              }}
            />
          )}
        </p>
      </div>
      <time dateTime={at} title={inUtc(at)}>
        {moment(at)}
      </time>
    </li>
  )
}

interface RunNowProps {
  readonly param: { readonly sale: string; readonly action: string }
  readonly text: string
  /** It is null for an action that failed, which has no time to come. */
  readonly at: string | null
  readonly isRepeated: boolean
}

function RunNow({ param, text, at, isRepeated }: RunNowProps) {
  const instead = at === null ? 'Its last run failed.' : `Nothing more happens at ${moment(at)}.`
  return (
    <Confirm
      action="Run now"
      name={`Run now: ${text}`}
      icon="play"
      title={at === null || isRepeated ? 'Run it now?' : `Run it now instead of ${moment(at)}?`}
      effect={
        `"${text}" happens within a second, in your name. ` +
        `${isRepeated ? 'Its other times stay as they are.' : instead} There is no undo here.`
      }
      onConfirm={async () => {
        await calls.scheduled[':action'].run.$post({ param })
        return { text: `"${text}" is under way.` }
      }}
    />
  )
}

function Over({ sale, action: one, products }: ActionProps) {
  const { action_id, cancelled_at, operator, runs } = one
  const text = inWords(one, products)
  const last = runs[0]
  const hasFailed = last !== undefined && last.error !== null && cancelled_at === null
  const at = cancelled_at ?? last?.ran_at ?? one.created_at
  return (
    <li class={hasFailed ? 'is-bad' : cancelled_at === null ? 'is-good' : ''}>
      <span class="mk">
        <Icon name={ICONS[one.action]} />
      </span>
      <div class="stack">
        <p>
          <b>{text}</b>
        </p>
        <p class="small quiet">
          by {operator}
          {cancelled_at !== null && ', called off'}
        </p>
        <Runs sale={sale} action={action_id} runs={runs} />
        {hasFailed && may('operator') && (
          <p>
            <RunNow param={{ sale, action: action_id }} text={text} at={null} isRepeated={one.cron !== null} />
          </p>
        )}
      </div>
      <time dateTime={at}>{moment(at)}</time>
    </li>
  )
}

interface RunsProps {
  readonly sale: string
  readonly action: string
  readonly runs: readonly ScheduledRun[]
}

function Runs({ sale, action, runs }: RunsProps) {
  if (runs.length === 0) return null
  return (
    <ul class="small">
      {runs.map(({ due_at, ran_at, late, error, has_document }) => {
        const lateBy = roughly('en', (Date.parse(ran_at) - Date.parse(due_at)) / 1_000)
        return (
          <li key={due_at}>
            {moment(due_at)} <span class="quiet">({inUtc(due_at)})</span>:{' '}
            {error === null ? 'carried out' : <strong class="failed">failed: {error}</strong>}
            {has_document && (
              <>
                {' '}
                <a href={`/admin/sales/${sale}/scheduled/${action}/runs/${due_at}`}>What it kept</a>
              </>
            )}
            {late && <span class="late"> {lateBy} late</span>}
          </li>
        )
      })}
    </ul>
  )
}
