/** The latest jobs that a queue gave up, each with what it was about, why it ended, and another try. */
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { admin, read } from '../../api.ts'
import { count, moment } from '../../format.ts'
import { Confirm, Failure } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Section } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { wordsOf } from './queue-words.ts'

const REFRESH_MS = 3_000
const { dead: calls } = admin.queues[':queue']

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const fieldOf = (data: unknown, name: string) => {
  const value = ((data ?? {}) as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'string' ? value : null
}

export function GivenUp({ queue, dead }: { readonly queue: string; readonly dead: number }) {
  const { data, error } = useQuery({
    queryKey: ['dead jobs', queue],
    queryFn: () => read(calls.$get({ param: { queue } })),
    refetchInterval: REFRESH_MS,
  })
  const jobs = data?.jobs ?? []
  return (
    <Section
      title={`Given up: ${count(dead)}`}
      aside={<span class="small quiet">{jobs.length < dead ? `the latest ${jobs.length}, ` : ''}kept for 30 days</span>}
    >
      <Failure error={error} />
      <Table
        label={`${wordsOf(queue).name} that were given up`}
        rows={jobs}
        keyOf={({ job }) => job}
        columns={[
          {
            name: 'What',
            cell: ({ data, job }) => (
              <>
                {fieldOf(data, 'type') ?? `${wordsOf(queue).job} ${job}`}
                <details class="small">
                  <summary class="quiet">Its data</summary>
                  <pre class="mono">{JSON.stringify(data, null, 2)}</pre>
                </details>
              </>
            ),
          },
          { name: 'About', phone: 'z', cell: ({ data }) => <About data={data} /> },
          { name: 'Why', cell: ({ error }) => (error === null ? 'not said' : textOf(error)) },
          {
            name: 'Given up',
            number: true,
            phone: 'z',
            cell: ({ died_at }) => <span class="quiet">{moment(died_at)}</span>,
          },
          {
            name: 'Act',
            unnamed: true,
            number: true,
            cell: ({ job, died_at }) =>
              may('operator') && (
                <Confirm
                  action="Try again"
                  name={`Try again: ${wordsOf(queue).job} ${job}, given up ${moment(died_at)}`}
                  look="bare"
                  effect="A worker tries it again, with all its attempts. What was done meanwhile is not done twice."
                  onConfirm={async () => {
                    await calls[':job'].retry.$post({ param: { queue, job } })
                    return { text: 'It waits for a worker.' }
                  }}
                />
              ),
          },
        ]}
      />
    </Section>
  )
}

function About({ data }: { readonly data: unknown }) {
  const order = fieldOf(data, 'order')
  return order === null ? null : <Link href={`/console/orders/${order}`}>order …{order.slice(-8)}</Link>
}
