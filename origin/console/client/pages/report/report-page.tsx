/** The report of a sale, for screen and paper: how it ended, why, and what proves it. */
import './report.css'
import { useQuery } from '@tanstack/preact-query'
import { clock } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { count, moment, time } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Phase } from '../../sheet/marks.tsx'
import { Figures, Head, Verdict } from '../../sheet/page.tsx'
import { BySecond } from './by-second.tsx'
import { Checks } from './checks.tsx'
import { Fairness } from './fairness.tsx'
import { inMoney, percent, type Report, readReport } from './read-report.ts'
import { Steps } from './steps.tsx'
import { Stories } from './stories.tsx'
import { verdictOf, wrongText } from './verdict.ts'

export function ReportPage({ sale }: { sale: string }) {
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
  if (!report)
    return (
      <>
        <Head title="Report" />
        {error ? <Failure error={error} /> : <Loading />}
      </>
    )
  const verdict = verdictOf(report)
  return (
    <>
      <Head
        title={report.name}
        sub={
          <>
            <Phase phase={report.phase} />
            <span>
              {moment(report.figures.opened_at)}; report made {moment(report.made_at)}
              {report.test && ' (a test sale: no money moved)'}
            </span>
            <span class="mono wide">{report.sale}</span>
          </>
        }
      >
        <fieldset class="row" aria-label="Take it with you">
          <button type="button" class="btn bare" disabled={isFetching} onClick={() => void refetch()}>
            <Icon name="again" />
            Make it again
          </button>
          <a class="btn" href={`/admin/sales/${encodeURIComponent(sale)}/report`} download={`${sale}-report.json`}>
            <Icon name="save" />
            JSON
          </a>
          <button type="button" class="btn primary" onClick={() => window.print()}>
            <Icon name="print" />
            Print
          </button>
        </fieldset>
      </Head>
      <Failure error={error} />
      <Verdict level={verdict.level} text={verdict.text}>
        {report.incidents.some(({ kind }) => kind === 'finding') && (
          <li>
            <p>
              <b>{wrongText(report)}</b>
            </p>
            <a class="btn" href="#wrong">
              What went wrong
            </a>
          </li>
        )}
      </Verdict>
      <Totals report={report} />
      <BySecond report={report} />
      <Stories report={report} />
      <Steps report={report} />
      <Fairness fairness={report.fairness} />
      <Checks report={report} />
    </>
  )
}

function Totals({ report }: { readonly report: Report }) {
  const { sale, figures } = report
  const { units, revenue, conversion, paid } = figures
  const { data: views } = useQuery({
    queryKey: ['report views', sale],
    queryFn: () => read(admin.sales[':sale'].views.$get({ param: { sale }, query: { by: 'minute' } })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [money] = revenue
  const isOver = figures.sold_out_at !== null
  const carts = figures.all_in_carts_at
  return (
    <Figures
      figures={[
        {
          name: 'Sold',
          value: (
            <>
              {count(units.sold)} <small>of {count(units.total)}</small>
            </>
          ),
          note:
            units.withheld > 0 ? `${count(units.withheld)} are withheld from sale` : `${count(units.free)} are free`,
        },
        {
          name: 'Revenue',
          value: money === undefined ? null : revenue.map((one) => inMoney(one.paid_minor, one.currency)).join(' + '),
          note:
            money === undefined
              ? 'nothing was paid'
              : revenue
                  .map(({ refunded_minor, left_minor, currency }) =>
                    refunded_minor === 0
                      ? 'nothing was given back'
                      : `${inMoney(refunded_minor, currency)} given back since, ${inMoney(left_minor, currency)} is left`,
                  )
                  .join('; '),
        },
        {
          name: isOver ? 'Time to sell out' : 'Open for',
          value: clock('en', figures.duration_seconds),
          note: carts === null ? 'never all in carts' : `all in carts at ${time(carts)}`,
        },
        {
          name: 'Visitors',
          value: views?.uniques ? count(views.uniques) : null,
          note: views?.uniques ? 'people, about' : 'nobody counted them',
        },
        {
          name: 'Paid, of those who came',
          value: figures.arrived ? percent(paid / figures.arrived) : null,
          note: figures.arrived
            ? `${percent(conversion.joined_to_paid)} of all who joined`
            : 'nobody came to the checkout',
        },
      ]}
    />
  )
}
