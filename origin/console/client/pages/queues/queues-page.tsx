/** The job queues: what needs somebody, all of them as rows, and the chosen one with what fails in it. */
import './queues.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { roughly } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { count, figure } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { Dot, Spark } from '../../sheet/marks.tsx'
import { Head, Section, Verdict } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { FailingJobs } from './failing.tsx'
import { GivenUp } from './given-up.tsx'
import { needsOf, verdictOf, wordsOf } from './queue-words.ts'

const REFRESH_MS = 3_000
const SHOWN_MINUTES = 30
const MINUTE_MS = 60_000

const readQueues = () => read(admin.queues.$get({ query: { minutes: String(SHOWN_MINUTES) } }))
type Queue = Awaited<ReturnType<typeof readQueues>>['queues'][number]

/** The jobs done in each of the last minutes; a minute without a row had none. */
function doneIn({ history }: Queue): number[] {
  const byMinute = new Map(history.map(({ minute, done }) => [Date.parse(minute), done]))
  const nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  return Array.from({ length: SHOWN_MINUTES }, (_, i) => byMinute.get(nowMs - (SHOWN_MINUTES - 1 - i) * MINUTE_MS) ?? 0)
}

const zeroIsQuiet = (value: number) => (value === 0 ? <span class="quiet">0</span> : <b>{count(value)}</b>)
const LEVELS = { good: 'good', watch: 'watch', bad: 'bad' } as const

export function QueuesPage() {
  const { data, error } = useQuery({ queryKey: ['queues'], queryFn: readQueues, refetchInterval: REFRESH_MS })
  const wanted = useSignal(location.hash.slice(1))
  useTitle('Queues · Console')
  const isThere = data !== undefined
  // An advice may link to one of the queues.
  useEffect(() => {
    const follow = () => {
      wanted.value = location.hash.slice(1)
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: 'center' }), [isThere])
  if (!data)
    return (
      <>
        <Head title="Queues" />
        {error ? <Failure error={error} /> : <Loading />}
      </>
    )
  const { queues } = data
  const needs = needsOf(queues)
  const verdict = verdictOf(queues)
  const chosen =
    queues.find(({ queue }) => queue === wanted.value) ?? queues.find(({ queue }) => queue === needs[0]?.queue)
  return (
    <>
      <Head
        title="Queues"
        sub={`${queues.length} queues, ${needs.length === 1 ? '1 needs you' : `${needs.length || 'none'} need you`}`}
      />
      <Failure error={error} />
      <Verdict level={verdict.level} text={verdict.text}>
        {needs.length > 0 &&
          needs.map(({ queue, what, noticed }) => (
            <li key={queue}>
              <p>
                <b>{what}</b> {noticed}
              </p>
              <a class="btn" href={`#${queue}`}>
                See {wordsOf(queue).name.toLowerCase()}
              </a>
            </li>
          ))}
      </Verdict>
      <Section title="All queues">
        <Table
          label="Queues"
          rows={queues}
          keyOf={({ queue }) => queue}
          isChosen={({ queue }) => queue === chosen?.queue}
          columns={[
            { name: 'State', unnamed: true, phone: 'a', cell: ({ level }) => <Dot level={LEVELS[level]} /> },
            {
              name: 'Queue',
              cell: ({ queue }) => (
                <>
                  <a id={queue} href={`#${queue}`} aria-current={queue === chosen?.queue ? 'true' : undefined}>
                    {wordsOf(queue).name}
                  </a>
                  <br />
                  <small class="quiet">{wordsOf(queue).about}</small>
                </>
              ),
            },
            {
              name: `Done, ${SHOWN_MINUTES} min`,
              wide: true,
              cell: (queue) => <Spark values={doneIn(queue)} />,
            },
            {
              name: 'A minute',
              number: true,
              wide: true,
              cell: ({ throughput }) => figure(throughput.done_per_minute),
            },
            {
              name: 'Waiting',
              number: true,
              cell: ({ open }) => (
                <>
                  {zeroIsQuiet(open.waiting)}
                  <small class="narrow quiet"> wait</small>
                </>
              ),
            },
            {
              name: 'Oldest',
              number: true,
              wide: true,
              cell: ({ open }) =>
                open.oldest_seconds === null ? <span class="quiet">none</span> : roughly('en', open.oldest_seconds),
            },
            { name: 'Running', number: true, wide: true, cell: ({ active }) => zeroIsQuiet(active) },
            { name: 'Failing', number: true, wide: true, cell: ({ retrying }) => zeroIsQuiet(retrying) },
            { name: 'For later', number: true, wide: true, cell: ({ later }) => zeroIsQuiet(later) },
            { name: 'Given up', number: true, wide: true, cell: ({ dead }) => zeroIsQuiet(dead) },
          ]}
        />
      </Section>
      {chosen && <FailingJobs key={chosen.queue} queue={chosen.queue} isIdle={chosen.dead + chosen.retrying === 0} />}
      {chosen && chosen.dead > 0 && <GivenUp queue={chosen.queue} dead={chosen.dead} />}
    </>
  )
}
