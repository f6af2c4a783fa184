/** The people from view to paid as a funnel, what was sold of each product, and each source with what it lost. */
import { Link } from 'wouter-preact'
import { lossesOf } from '../../../../../shared/api/operators/report.ts'
import { count, figure } from '../../format.ts'
import { unitsSum } from '../../parts.tsx'
import { StockMeter } from '../../sheet/marks.tsx'
import { Columns, Section } from '../../sheet/page.tsx'
import { FunnelDrawing } from '../sale/funnel.tsx'
import { countOrUnknown, inMoney, loss, percent, type Report, totalsOf } from './read-report.ts'

type Props = { readonly report: Report }

export const Steps = ({ report }: Props) => (
  <>
    <Columns split="minmax(0, 7fr) minmax(0, 5fr)">
      <People report={report} />
      <Products report={report} />
    </Columns>
    {report.sources.length > 0 && <Sources report={report} />}
  </>
)

function People({ report }: Props) {
  const { joined, called, arrived, did_not_come, reserved, paid, conversion, most_waiting } = report.figures
  const { abandoned, by_length } = report.holds
  const viewed = report.sources.reduce((sum, { views }) => sum + views, 0)
  const totals = totalsOf(report)
  const halfPaid = by_length[0]?.median_seconds_to_pay ?? null
  const losses = [
    [called ? (did_not_come ?? 0) / called : 0, 'did not come'],
    [arrived ? Math.max(0, 1 - reserved / arrived) : 0, 'reserved nothing'],
    [reserved ? Math.max(0, 1 - paid / reserved) : 0, 'did not pay'],
  ] as const
  const [worst, worstText] = losses.toSorted(([a], [b]) => b - a)[0] ?? [0, '']
  const steps = [
    ['Called', called],
    ['Arrived', arrived],
    ['Reserved', reserved],
    ['Paid', paid],
  ] as const
  const reach = (
    <>
      {viewed > 0 && (
        <span>
          <b>{count(viewed)}</b> views
        </span>
      )}
      <span>
        <b>{countOrUnknown(joined)}</b> joined
      </span>
      {most_waiting !== null && <span class="quiet">{count(most_waiting)} waited at most</span>}
    </>
  )
  return (
    <Section
      title="From view to paid"
      class="fill"
      aside={
        worst > 0 && (
          <span class="tag">
            Worst loss: {percent(worst)} {worstText}
          </span>
        )
      }
    >
      <FunnelDrawing reach={reach} steps={steps}>
        <p class="small quiet">{halfPaid !== null && `Half of them paid within ${figure(halfPaid)} s of reserving.`}</p>
        <p class="small">
          <b>{countOrUnknown(did_not_come)}</b> did not come
          <br />
          <span class="quiet">{called ? percent((did_not_come ?? 0) / called) : ''}</span>
        </p>
        <p class="small">
          <b>{arrived === null ? 'unknown' : count(Math.max(0, arrived - reserved))}</b> reserved nothing
          <br />
          <span class="quiet">{conversion.arrived_to_reserved === null ? '' : 'found none left, or left'}</span>
        </p>
        <p class="small">
          <b>{count(abandoned)}</b> did not pay
          <br />
          <span class="quiet">
            {reserved > 0 && percent(abandoned / reserved)}
            {totals.expired ? `; ${count(totals.expired)} ran out of time` : ''}
          </span>
        </p>
      </FunnelDrawing>
    </Section>
  )
}

function Products({ report: { figures } }: Props) {
  return (
    <Section title="By product">
      <table>
        <thead>
          <tr>
            <th scope="col">Product or section</th>
            <th scope="col" class="n">
              Sold
            </th>
            <th scope="col" class="wide">
              <span class="unseen">Share sold</span>
            </th>
            <th scope="col" class="n">
              Revenue
            </th>
          </tr>
        </thead>
        <tbody>
          {figures.products
            .filter(({ total }) => total > 0)
            .map(({ product_id, name, currency, sold_minor, ...units }) => (
              <tr key={product_id}>
                <th scope="row">
                  {name}
                  <br />
                  <small class="quiet">{unitsSum(units)}</small>
                </th>
                <td class="n">{count(units.sold)}</td>
                <td class="wide share">
                  <StockMeter total={units.total} sold={units.sold} held={units.held} />
                </td>
                <td class="n">{inMoney(sold_minor, currency)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Section>
  )
}

type Source = Omit<Report['sources'][number], 'losses' | 'key'>
const STEPS = ['views', 'joined', 'turns', 'reserved', 'paid', 'paid_minor'] as const
const nameOf = (key: string) => (key === 'typed' ? 'Typed, or not said' : key === 'other' ? 'All others' : key)

function Sources({ report: { sources, figures, sale } }: Props) {
  const currency = figures.products[0]?.currency
  const all = Object.fromEntries(
    STEPS.map((step) => [step, sources.reduce((sum, one) => sum + one[step], 0)]),
  ) as unknown as Source
  return (
    <Section
      title="By source, with what each step lost"
      aside={
        <Link class="small" href={`/console/sales/${sale}/visitors`}>
          Visitors
        </Link>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <section class="scroll" aria-label="Sources" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Source</th>
              {['Viewed', 'Joined', 'Had a turn', 'Reserved'].map((name) => (
                <th key={name} scope="col" class="n wide">
                  {name}
                </th>
              ))}
              {['Paid', 'Of turns', 'Revenue'].map((name) => (
                <th key={name} scope="col" class={name === 'Of turns' ? 'n heat' : 'n'}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sources.map(({ key, losses, ...row }) => (
              <SourceRow key={key} name={nameOf(key)} row={row} losses={losses} all={all} currency={currency} />
            ))}
          </tbody>
          {sources.length > 1 && (
            <tfoot>
              <SourceRow name="All" row={all} losses={lossesOf(all)} all={all} currency={currency} />
            </tfoot>
          )}
        </table>
      </section>
    </Section>
  )
}

interface RowProps {
  readonly name: string
  readonly row: Source
  readonly losses: Report['sources'][number]['losses']
  readonly all: Source
  readonly currency: string | undefined
}

function SourceRow({ name, row, losses, all, currency }: RowProps) {
  const cells = [
    [row.views, null],
    [row.joined, loss(losses.viewed_to_joined)],
    [row.turns, row.turns > 0 ? `1 in ${figure(Math.max(1, row.joined / row.turns))}` : '–'],
    [row.reserved, loss(losses.turn_to_reserved)],
  ] as const
  const ofTurns = row.turns === 0 ? null : row.paid / row.turns
  return (
    <tr>
      <th scope="row">{name}</th>
      {cells.map(([value, note], i) => (
        <td key={i} class="n wide">
          {count(value)}
          {note !== null && <br />}
          {note !== null && <small class="quiet">{note}</small>}
        </td>
      ))}
      <td class="n">
        {count(row.paid)}
        <br />
        <small class="quiet">{loss(losses.reserved_to_paid)}</small>
      </td>
      <td class="n heat" style={`--heat: ${row === all ? 0 : Math.round(20 * (ofTurns ?? 0))}%`}>
        <b>{ofTurns === null ? '–' : percent(ofTurns)}</b>
      </td>
      <td class="n">
        <b>{inMoney(row.paid_minor, currency)}</b>
        <br />
        <small class="quiet">{percent(all.paid_minor === 0 ? null : row.paid_minor / all.paid_minor)}</small>
      </td>
    </tr>
  )
}
