/** The figures of a report: visitors from joining to paying, money, units and times. */
import type { ComponentChildren } from 'preact'
import { clock, money, roughly } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { count, instant, moment, TableHead, unitsSum, whoCame } from '../../parts.tsx'

const countOrUnknown = (value: number | null) => (value === null ? 'unknown' : count(value))
const percent = (share: number | null) =>
  share === null ? '' : `${(100 * share).toLocaleString('en', { maximumFractionDigits: 1 })} %`

export function Figures({ figures }: Pick<Report, 'figures'>) {
  const { conversion, units, products, revenue, by_status } = figures
  const steps = [
    ['joined', figures.joined, ''],
    ['called', figures.called, ''],
    ['arrived', figures.arrived, whoCame(figures)],
    ['reserved', figures.reserved, of(conversion.arrived_to_reserved, 'who arrived')],
    ['paid', figures.paid, of(conversion.reserved_to_paid, 'reserved')],
    ['refunded', figures.refunded, ''],
  ] as const
  const times = [
    ['Opened', moment(figures.opened_at)],
    ['All in carts', figures.all_in_carts_at && instant(figures.all_in_carts_at)],
    ['Sold out', figures.sold_out_at ? instant(figures.sold_out_at) : 'not sold out'],
    ['Ended', figures.ended_at && moment(figures.ended_at)],
    figures.sold_out_at
      ? ['From opening to sold out', `about ${roughly('en', figures.duration_seconds)}`]
      : ['Open for', clock('en', figures.duration_seconds)],
    ['Most people waiting', countOrUnknown(figures.most_waiting)],
    ['Of those who joined, came', percent(conversion.joined_to_arrived) || 'unknown'],
    ['Of those who joined, paid', percent(conversion.joined_to_paid) || 'unknown'],
    ['Units', unitsSum(units)],
  ] as const
  return (
    <Section title="Figures">
      <ol class="steps">
        {steps.map(([name, value, note]) => (
          <li key={name}>
            <span>{name}</span>
            <b>{countOrUnknown(value)}</b>
            <small>{note}</small>
          </li>
        ))}
      </ol>
      <dl class="facts">
        {times.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {products.length > 1 && (
        <table>
          <TableHead columns={['Product or section', 'Units', 'Price of what is sold']} texts={2} />
          <tbody>
            {products.map(({ product_id, name, currency, sold_minor, ...counts }) => (
              <tr key={product_id}>
                <th scope="row">
                  {name} <small class="quiet">{product_id}</small>
                </th>
                <td>{unitsSum(counts)}</td>
                <td class="number">{money('en', sold_minor, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {revenue.map(({ currency, paid_minor, refunded_minor, left_minor }) => (
        <dl key={currency} class="facts">
          <div>
            <dt>Paid in {currency}</dt>
            <dd>{money('en', paid_minor, currency)}</dd>
          </div>
          <div>
            <dt>Given back</dt>
            <dd>{money('en', refunded_minor, currency)}</dd>
          </div>
          <div>
            <dt>Revenue left</dt>
            <dd>{money('en', left_minor, currency)}</dd>
          </div>
        </dl>
      ))}
      <p class="quiet">
        Orders now:{' '}
        {Object.entries(by_status)
          .map(([status, orders]) => `${count(orders)} ${status === 'returned' ? 'refunded and back on sale' : status}`)
          .join(', ') || 'none'}
        .
      </p>
    </Section>
  )
}

const of = (share: number | null, whole: string) => (share === null ? '' : `${percent(share)} of those ${whole}`)

export const readReport = (sale: string) => read(admin.sales[':sale'].report.$get({ param: { sale } }))
export type Report = Awaited<ReturnType<typeof readReport>>

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="sec" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
