/** The job queues: what waits, and what was given up. */
import './scheduled.css'
import { useQuery } from '@tanstack/preact-query'
import { roughly } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { Confirm, count, Failure, moment, TableHead, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'

const REFRESH_MS = 3_000
/** The oldest job that could begin has waited for so long: no worker runs, or too few. */
const OLD_SECONDS = 60

/** What each is for. */
const ABOUT: Readonly<Record<string, string>> = {
  charge: 'Charges to be authorized',
  capture: 'Money to be taken of confirmed orders',
  refund: 'Money to be given back',
  scheduled: 'Scheduled actions',
  webhook: 'Messages to webhook endpoints',
  mail: 'Mails to buyers',
}

export function QueuesPage() {
  const { data, error } = useQuery({
    queryKey: ['queues'],
    queryFn: () => read(admin.queues.$get()),
    refetchInterval: REFRESH_MS,
  })
  useTitle('Queues · Console')
  const dead = data?.queues.filter((queue) => queue.dead > 0) ?? []
  return (
    <>
      <h1>Queues</h1>
      <Failure error={error} />
      {dead.map(({ queue }) => (
        <Dead key={queue} queue={queue} />
      ))}
      <section class="card" aria-label="All queues">
        <h2>All queues</h2>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard. */}
        <section class="wide" tabIndex={0} aria-label="All queues, as a table">
          <table>
            <TableHead
              columns={['Queue', 'Waiting', 'Oldest', 'With a worker', 'To be retried', 'For later', 'Dead']}
            />
            <tbody>
              {data?.queues.map((q) => (
                <tr key={q.queue}>
                  <th scope="row">
                    <code>{q.queue}</code> <span class="quiet">{ABOUT[q.queue]}</span>
                  </th>
                  <td class="number" data-name="Waiting">
                    {count(q.waiting)}
                  </td>
                  <td class={`number ${(q.oldest_seconds ?? 0) > OLD_SECONDS ? 'failed' : ''}`} data-name="Oldest">
                    {q.oldest_seconds === null ? '–' : roughly('en', q.oldest_seconds)}
                  </td>
                  <td class="number" data-name="With a worker">
                    {count(q.active)}
                  </td>
                  <td class="number" data-name="To be retried">
                    {count(q.retrying)}
                  </td>
                  <td class="number" data-name="For later">
                    {count(q.later)}
                  </td>
                  <td class={`number ${q.dead > 0 ? 'failed' : ''}`} data-name="Dead">
                    {count(q.dead)}
                  </td>
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
    <section class="card" aria-label={`Dead jobs of ${queue}`}>
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
