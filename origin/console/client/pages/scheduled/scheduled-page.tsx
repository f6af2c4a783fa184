/** The scheduled actions of a sale: future ones, past ones, and a form for a new one. */
import './scheduled.css'
import { useQuery } from '@tanstack/preact-query'
import type { ScheduledRun, Suspension } from '../../../../../shared/api/operators/answers.ts'
import { roughly } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { Confirm, Failure, moment, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'
import { soldBy } from '../../sold-by.ts'
import { inUtc, inWords } from './actions.ts'
import { ScheduleForm } from './schedule-form.tsx'

const REFRESH_MS = 2_000
/** The name and products of a sale change rarely. */
const SALE_REFRESH_MS = 30_000

export function ScheduledPage({ sale }: { sale: string }) {
  const calls = admin.sales[':sale']
  const { data: about } = useQuery({
    queryKey: ['sale', sale],
    queryFn: () => read(calls.$get({ param: { sale } })),
    refetchInterval: SALE_REFRESH_MS,
  })
  const { data, error } = useQuery({
    queryKey: ['scheduled', sale],
    queryFn: () => read(calls.scheduled.$get({ param: { sale } })),
    refetchInterval: REFRESH_MS,
  })
  useTitle('Scheduled · Console')
  const products = soldBy(about?.products ?? [])
  // Seats have their own prices and are imported, so they have no restock.
  const withUnits = products.filter(({ section_type }) => section_type !== 'reserved')
  const toCome = data?.scheduled.filter((one) => one.next_at !== null || one.suspended) ?? []
  const past = data?.scheduled.filter((one) => one.next_at === null && !one.suspended) ?? []
  return (
    <>
      <Head title="Scheduled actions" sub={`of ${about?.name ?? sale}`} />
      <Failure error={error} />
      <section class="sec" aria-label="To come">
        <h2>To come</h2>
        {data && toCome.length === 0 && <p class="quiet">Nothing is scheduled.</p>}
        <ul class="actions">
          {toCome.map((one) => (
            <li key={one.action_id}>
              <div class="first">
                <div>
                  <strong>{inWords(one, products)}</strong>
                  <When at={one.next_at ?? one.suspended?.due_at ?? ''} cron={one.cron} zone={about?.time_zone ?? ''} />
                  {one.suspended && <Suspended operator={one.operator} {...one.suspended} />}
                </div>
                {may('owner') && one.suspended && (
                  <Confirm
                    action="Resume"
                    effect={`"${inWords(one, products)}" will happen again, in your name.`}
                    onConfirm={async () => {
                      await calls.scheduled[':action'].resume.$post({ param: { sale, action: one.action_id } })
                      return { text: `"${inWords(one, products)}" will happen, in your name.` }
                    }}
                  />
                )}
                {may('operator') && (
                  <Confirm
                    action="Call off"
                    effect={
                      `"${inWords(one, products)}" will not happen${one.cron === null ? '' : ' any more'}. It ` +
                      'stays in the list below. There is no undo but to schedule it again.'
                    }
                    onConfirm={async () => {
                      await calls.scheduled[':action'].$delete({ param: { sale, action: one.action_id } })
                      return { text: `"${inWords(one, products)}" will not happen.` }
                    }}
                  />
                )}
              </div>
              <Runs runs={one.runs} />
            </li>
          ))}
        </ul>
      </section>
      {may('operator') && about && about.phase !== 'ended' && (
        <ScheduleForm sale={sale} products={withUnits} zone={about.time_zone} />
      )}
      {past.length > 0 && (
        <section class="sec" aria-label="Over">
          <h2>Over</h2>
          <ul class="actions">
            {past.map((one) => (
              <li key={one.action_id}>
                <p>
                  <strong>{inWords(one, products)}</strong>{' '}
                  <span class="quiet">
                    by {one.operator}
                    {one.cancelled_at !== null && `, cancelled ${moment(one.cancelled_at)}`}
                  </span>
                </p>
                <Runs runs={one.runs} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Suspended({ operator, by, reason, at }: Suspension & { operator: string }) {
  return (
    <p class="failed">
      Suspended {moment(at)}: {operator} was {reason} by {by}.
    </p>
  )
}

function When({ at, cron, zone }: { at: string; cron: string | null; zone: string }) {
  return (
    <p class="quiet">
      {moment(at)} ({inUtc(at)})
      {cron !== null && (
        <>
          , again and again: <code>{cron}</code> {zone}
        </>
      )}
    </p>
  )
}

function Runs({ runs }: { runs: readonly ScheduledRun[] }) {
  if (runs.length === 0) return null
  return (
    <ul>
      {runs.map(({ due_at, ran_at, late, error }) => {
        const lateBy = roughly('en', (Date.parse(ran_at) - Date.parse(due_at)) / 1000)
        return (
          <li key={due_at}>
            {moment(due_at)} <span class="quiet">({inUtc(due_at)})</span>:{' '}
            {error === null ? 'carried out' : <strong class="failed">failed: {error}</strong>}
            {late && <span class="late"> {lateBy} late</span>}
          </li>
        )
      })}
    </ul>
  )
}
