/** What is not as it should be, in all sales: what is open with what to do, whom findings reach, and what is closed. */
import './findings.css'
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { clock } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { count, moment } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Dot } from '../../sheet/marks.tsx'
import { Head, Section, Verdict } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { Alerts } from './alerts.tsx'
import { aboutOf, type Finding, hrefOf, titleOf, verdictOf } from './finding-words.ts'

const REFRESH_MS = 5_000

const readFindings = () => read(admin.findings.$get())

export function FindingsPage() {
  const { data, error } = useQuery({ queryKey: ['findings'], queryFn: readFindings, refetchInterval: REFRESH_MS })
  useTitle('Findings · Console')
  const all: readonly Finding[] = data?.all ?? []
  const open = all.filter(({ closed_at }) => closed_at === null)
  const closed = all.filter(({ closed_at }) => closed_at !== null)
  const verdict = verdictOf(open)
  return (
    <>
      <Head title="Findings" sub={data && `${count(open.length)} open, of all sales`} />
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && (
        <>
          <Verdict
            level={verdict.level}
            text={may('operator') ? verdict.text : verdict.text.replace(' you', ' an operator')}
          >
            {open.length > 0 && open.map((one) => <OpenFinding key={one.finding} finding={one} />)}
          </Verdict>
          <Alerts />
          <Section title="Closed lately">
            {closed.length === 0 ? (
              <p class="quiet">None.</p>
            ) : (
              <Table
                label="Closed findings"
                rows={closed}
                keyOf={({ finding }) => finding}
                columns={[
                  { name: 'Level', unnamed: true, phone: 'a', cell: ({ level }) => <Dot level={level} /> },
                  { name: 'What', cell: (one: Finding) => titleOf(one) },
                  { name: 'About', phone: 'z', cell: (one) => <span class="quiet">{aboutOf(one)}</span> },
                  { name: 'How it ended', wide: true, cell: ({ outcome }) => outcome ?? '' },
                  {
                    name: 'Seen',
                    number: true,
                    wide: true,
                    cell: ({ seen }) => (seen === 1 ? 'once' : `${count(seen)} times`),
                  },
                  {
                    name: 'Closed',
                    number: true,
                    phone: 'z',
                    cell: ({ closed_at }) => <span class="quiet">{closed_at === null ? '' : moment(closed_at)}</span>,
                  },
                ]}
              />
            )}
          </Section>
        </>
      )}
    </>
  )
}

function OpenFinding({ finding }: { readonly finding: Finding }) {
  const { level, advice, first_seen_at, place, seen } = finding
  const seconds = Math.max(0, (Date.now() - Date.parse(first_seen_at)) / 1000)
  return (
    <li class={`is-${level}`}>
      <p>
        <b>
          {titleOf(finding)}
          {aboutOf(finding) && `: ${aboutOf(finding)}`}.
        </b>{' '}
        <time datetime={first_seen_at}>
          For {clock('en', seconds)}
          {seen > 1 && `, seen ${count(seen)} times`}.
        </time>{' '}
        {advice}
      </p>
      <Link class="btn" href={hrefOf(finding)}>
        {place.href.startsWith('#') ? 'Open the sale' : place.text}
      </Link>
    </li>
  )
}
