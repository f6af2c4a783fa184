/** The job queues: waiting jobs, and jobs that were given up. */
import './scheduled.css'
import { useQuery } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { roughly } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { Confirm, count, Failure, moment, TableHead, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'

const REFRESH_MS = 3_000

/** The purpose of each queue. */
const ABOUT: Readonly<Record<string, string>> = {
  charge: 'Charges to be authorized',
  capture: 'Money to be taken of confirmed orders',
  refund: 'Money to be given back',
  scheduled: 'Scheduled actions',
  webhook: 'Messages to webhook endpoints',
  mail: 'Mails to buyers',
}

type Queue = Awaited<ReturnType<typeof readQueues>>['queues'][number]
const readQueues = () => read(admin.queues.$get({ query: {} }))

const LOOKS = { good: '', watch: 'late', bad: 'failed' } as const
/** The first figure is all waiting jobs. The others divide it into due jobs, retries and jobs for a later time. */
const COLUMNS: readonly (readonly [name: string, text: (queue: Queue) => string, look?: (queue: Queue) => string])[] = [
  ['Waiting', ({ open }) => count(open.waiting)],
  [
    'Oldest',
    ({ open }) => (open.oldest_seconds === null ? '–' : roughly('en', open.oldest_seconds)),
    ({ level }) => LOOKS[level],
  ],
  ['To be retried', ({ retrying }) => count(retrying)],
  ['Most tries', ({ open }) => count(open.tries)],
  ['With a worker', ({ active }) => count(active)],
  ['For later', ({ later }) => count(later)],
  ['Dead', ({ dead }) => count(dead), ({ dead }) => (dead > 0 ? 'failed' : '')],
]

export function QueuesPage() {
  const { data, error } = useQuery({
    queryKey: ['queues'],
    queryFn: readQueues,
    refetchInterval: REFRESH_MS,
  })
  useTitle('Queues · Console')
  const isThere = data !== undefined
  // An advice may link to one of the queues.
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: 'center' }), [isThere])
  const dead = data?.queues.filter((queue) => queue.dead > 0) ?? []
  return (
    <>
      <Head title="Queues" />
      <Failure error={error} />
      {dead.map(({ queue }) => (
        <Dead key={queue} queue={queue} />
      ))}
      <section class="sec" aria-label="All queues">
        <h2>All queues</h2>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard. */}
        <section class="wide-table" tabIndex={0} aria-label="All queues, as a table">
          <table>
            <TableHead columns={['Queue', ...COLUMNS.map(([name]) => name)]} />
            <tbody>
              {data?.queues.map((q) => (
                <tr key={q.queue} id={q.queue}>
                  <th scope="row">
                    <code>{q.queue}</code> <span class="quiet">{ABOUT[q.queue]}</span>
                  </th>
                  {COLUMNS.map(([name, text, look]) => (
                    <td key={name} class={`number ${look?.(q) ?? ''}`} data-name={name}>
                      {text(q)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </section>
    </>
  )
}

function Dead({ queue }: { queue: string }) {
  const { dead } = admin.queues[':queue']
  const { data, error } = useQuery({
    queryKey: ['dead jobs', queue],
    queryFn: () => read(dead.$get({ param: { queue } })),
    refetchInterval: REFRESH_MS,
  })
  return (
    <section class="sec" aria-label={`Dead jobs of ${queue}`}>
      <h2 class="failed">
        Given up in <code>{queue}</code>
      </h2>
      <p class="quiet">{ABOUT[queue]}. Find out why, then have them tried again.</p>
      <Failure error={error} />
      <ul class="actions">
        {data?.jobs.map(({ job, data, died_at, error }) => (
          <li key={job}>
            <div class="first">
              <div>
                <p>
                  {moment(died_at)} {error !== null && <code>{JSON.stringify(error)}</code>}
                </p>
                <p class="quiet">
                  <code>{JSON.stringify(data)}</code>
                </p>
              </div>
              {may('operator') && (
                <Confirm
                  action="Try again"
                  effect="A worker tries it again, with all its attempts. What was done meanwhile is not done twice."
                  onConfirm={async () => {
                    await dead[':job'].retry.$post({ param: { queue, job } })
                    return { text: 'It waits for a worker.' }
                  }}
                />
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
