/** The report of a sale, for screen and paper. */
import './report.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { Failure, Loading, moment, TableHead, useTitle } from '../../parts.tsx'
import { Head } from '../../sheet/page.tsx'
import { Curves } from './curves.tsx'
import { Fairness } from './fairness.tsx'
import { Figures, type Report, readReport, Section } from './figures.tsx'

/** After this many frames the charts are drawn in the colours for paper. */
const FRAMES = 3

export function ReportPage({ sale }: { sale: string }) {
  const isPaper = useSignal(false)
  const {
    data: report,
    error,
    isFetching,
    refetch,
  } = useQuery({
    queryKey: ['report', sale],
    queryFn: () => readReport(sale),
    // The report is made when the page is opened or the operator requests it, and is not refreshed by itself.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  // Browsers name the PDF after the title.
  useTitle(report ? `Report of ${report.name}` : 'Console')
  const print = async () => {
    isPaper.value = true
    for (let i = 0; i < FRAMES; i++) await new Promise(requestAnimationFrame)
    window.print()
    isPaper.value = false
  }
  if (!report) return error ? <Failure error={error} /> : <Loading />
  return (
    <article class={`report ${isPaper.value ? 'paper' : ''}`}>
      <Head
        title={report.name}
        sub={
          <>
            <code>{report.sale}</code>, {report.phase.replaceAll('_', ' ')}, report made {moment(report.made_at)}
            {report.test && ' (a test sale: no money moved)'}
          </>
        }
      >
        <div class="row on-screen">
          <button type="button" class="primary" onClick={() => void print()}>
            Print or save as PDF
          </button>
          <button type="button" disabled={isFetching} onClick={() => void refetch()}>
            Make it again
          </button>
          <a href={`/admin/sales/${encodeURIComponent(sale)}/report`}>As JSON</a>
        </div>
      </Head>
      <Failure error={error} />
      <Figures figures={report.figures} />
      <Curves key={isPaper.value} curves={report.curves} waits={report.waits} />
      <Fairness fairness={report.fairness} />
      <Attacks attacks={report.attacks} />
      <Announcements announcements={report.announcements} />
      <Incidents incidents={report.incidents} />
    </article>
  )
}

function Attacks({ attacks: { refused, rules, blocks } }: Pick<Report, 'attacks'>) {
  return (
    <Section title="What was refused">
      {refused.length === 0 ? (
        <p>Nothing was refused.</p>
      ) : (
        <table>
          <TableHead columns={['Reason', 'At', 'Times']} texts={2} />
          <tbody>
            {refused.map(({ at, reason, count }) => (
              <tr key={at + reason}>
                <th scope="row">{reason.replaceAll(/[-_]/g, ' ')}</th>
                <td>{at}</td>
                <td class="number">{count.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rules.length > 0 && (
        <table>
          <TableHead columns={['Rule', 'Does', 'Met by']} texts={2} />
          <tbody>
            {rules.map(({ note, action, met }, i) => (
              <tr key={i}>
                <th scope="row">{note === '' ? 'without a note' : note}</th>
                <td>{action.replaceAll('_', ' ')}</td>
                <td class="number">{met.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p>
        Blocks in force: {blocks.in_force}, of which made since the sale was created: {blocks.made_meanwhile}.
      </p>
    </Section>
  )
}

function Announcements({ announcements }: Pick<Report, 'announcements'>) {
  return (
    <Section title="What visitors were told">
      {announcements.length === 0 && <p>Nothing was announced.</p>}
      <ul class="announced">
        {announcements.map(({ level, text, since, until, operator }) => (
          <li key={since}>
            <p class="quiet">
              {moment(since)} {until === null ? 'and still' : `to ${moment(until)}`},{' '}
              {level === 'warning' ? 'a warning ' : ''}
              by {operator}
            </p>
            {Object.entries(text).map(([language, words]) => (
              <p key={language} lang={language} dir="auto">
                {words}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Incidents({ incidents }: Pick<Report, 'incidents'>) {
  return (
    <Section title="What was done, and what was found">
      {incidents.length === 0 && <p>Nothing.</p>}
      <ol class="incidents">
        {incidents.map(({ at, kind, what, by, until, detail }, i) => (
          <li key={i} class={kind}>
            <time dateTime={at}>{moment(at)}</time>
            <div>
              <h3>
                {kind === 'finding' ? `Found: ${what.replaceAll('_', ' ')}` : what.replaceAll('_', ' ')}
                {by !== null && <span class="quiet">, by {by}</span>}
              </h3>
              {kind === 'finding' && (
                <p>
                  {until === null
                    ? 'Still open.'
                    : `Until ${moment(until)}${detail.outcome ? `, ${detail.outcome}` : ''}.`}
                </p>
              )}
              {changesOf(detail).map((change) => (
                <p key={change} class="quiet">
                  {change}
                </p>
              ))}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  )
}

/** The audit log has the full values. */
const [LONGEST, MOST_CHANGES] = [160, 5]

/** Lists the changed fields of an action, a line for each, with shortened values. */
function changesOf({ before, after, units }: Readonly<Record<string, unknown>>): string[] {
  const text = (value: unknown) => {
    const all = typeof value === 'string' ? value : JSON.stringify(value)
    return all.length > LONGEST ? `${all.slice(0, LONGEST)} …` : all
  }
  const [was, is] = [before, after].map((of) =>
    of !== null && typeof of === 'object' ? (of as Record<string, unknown>) : {},
  )
  const names = [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])]
  const changes = names.map((name) => {
    const [then, now] = [was?.[name], is?.[name]]
    const label = name.replaceAll('_', ' ')
    if (then === undefined) return `${label}: ${text(now)}`
    return now === undefined ? `${label}: no more ${text(then)}` : `${label}: ${text(then)} → ${text(now)}`
  })
  const all = typeof units === 'number' && units !== 0 ? [`units: ${units}`, ...changes] : changes
  const rest = all.length - MOST_CHANGES
  return rest > 0 ? [...all.slice(0, MOST_CHANGES), `and ${rest} more, in the audit log`] : all
}
