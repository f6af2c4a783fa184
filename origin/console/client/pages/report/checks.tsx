/** These sections say who was refused, how payments went, what was forecast and counted, and what was said. */
import { Link } from 'wouter-preact'
import { count, figure, moment } from '../../format.ts'
import { Columns, Section } from '../../sheet/page.tsx'
import { Figure, Unpaid, Words } from '../sale/sides.tsx'
import { apart, countOrUnknown, percent, type Report, totalsOf } from './read-report.ts'

type Props = { readonly report: Report }

export const Checks = ({ report }: Props) => (
  <>
    <Columns split="minmax(0, 7fr) minmax(0, 5fr)">
      <BotsAndRules report={report} />
      <Payments report={report} />
    </Columns>
    <Columns split="minmax(0, 1.2fr) minmax(0, 1.05fr) minmax(0, 0.75fr)">
      <Forecast report={report} />
      <Recounted report={report} />
      <Announced report={report} />
    </Columns>
  </>
)

const inWords = (reason: string) => reason.replaceAll(/[-_]/g, ' ')

function BotsAndRules({ report }: Props) {
  const { attacks, sale } = report
  const { refused, rules, blocks } = attacks
  const groups: readonly (readonly [name: string, kind: 'refused' | 'rule', rows: Report['attacks']['refused']])[] = [
    ['Refused at joining', 'refused', refused.filter(({ at }) => at === 'joining')],
    ['Refused at the checkout', 'refused', refused.filter(({ at }) => at !== 'joining')],
    [
      'Met a rule',
      'rule',
      rules.map(({ note, action, met }) => ({ reason: note || inWords(action), at: inWords(action), count: met })),
    ],
  ]
  const shown = groups.filter(([, , rows]) => rows.length > 0)
  return (
    <Section
      title="Bots and rules"
      aside={
        <Link class="small" href={`/console/sales/${sale}/access`}>
          Rules
        </Link>
      }
    >
      {shown.length === 0 && <p class="quiet">Nobody was refused.</p>}
      {shown.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Whoever</th>
              <th scope="col" class="wide">
                is
              </th>
              <th scope="col" class="n">
                Times
              </th>
            </tr>
          </thead>
          {shown.map(([name, kind, rows]) => (
            <tbody key={name}>
              <tr class="sub">
                <th scope="rowgroup" colSpan={2}>
                  {name}
                </th>
                <td class="n">
                  <b>{count(rows.reduce((sum, one) => sum + one.count, 0))}</b>
                </td>
              </tr>
              {rows.map(({ at, reason, count: times }, i) => (
                <tr key={i}>
                  <th scope="row">{inWords(reason)}</th>
                  <td class="quiet wide">{kind === 'rule' ? at : 'refused'}</td>
                  <td class="n">{count(times)}</td>
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      )}
      <p class="small quiet">
        {blocks.in_force} {blocks.in_force === 1 ? 'block is' : 'blocks are'} in force, {blocks.made_meanwhile} of them
        made since the sale was created.
      </p>
      <Honest report={report} />
    </Section>
  )
}

/** An estimate by networks. What it rests on is beside it, so that nobody takes it for more. */
function Honest({ report: { honest } }: Props) {
  if (honest === null) return null
  const { units, outside, scripted } = honest
  return (
    <>
      <h3>Honest share</h3>
      <p>
        <b>{percent(outside / units)}</b> of {count(units)} units went to networks whose joins look like those of
        people.
      </p>
      {scripted.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Looks like scripts</th>
              <th scope="col" class="n">
                Joins
              </th>
              <th scope="col" class="n wide">
                Pages seen
              </th>
              <th scope="col" class="n">
                Units
              </th>
            </tr>
          </thead>
          <tbody>
            {scripted.map(({ network, joined, views, units: bought }) => (
              <tr key={network}>
                <th scope="row">{network}</th>
                <td class="n">{count(joined)}</td>
                <td class="n wide">{count(views)}</td>
                <td class="n">{count(bought)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="small quiet">
        Such a network has less than one page that counts as seen for two joins, or brings a proof of work for less than
        a tenth of those asked for. Buyers whose network is not known are left out.
      </p>
    </>
  )
}

function Payments({ report }: Props) {
  const totals = totalsOf(report)
  const { confirmed = 0, declined = 0 } = totals
  const { mean_seconds, abandonment, by_length } = report.holds
  const tries = confirmed + declined
  const median = by_length[0]?.median_seconds_to_pay ?? null
  return (
    <Section title="Payments" aside={<span class="small quiet">{count(tries)} tries</span>}>
      <dl class="trio">
        <Figure name="Succeed" value={tries === 0 ? null : figure((100 * confirmed) / tries)} unit="%" />
        <Figure name="Half paid within" value={median === null ? null : figure(median)} unit="s" />
        <Figure name="Held on average" value={mean_seconds === null ? null : figure(mean_seconds)} unit="s" />
      </dl>
      <Unpaid figures={totals} />
      <p class="small quiet">
        {abandonment !== null && `${percent(abandonment)} of what was reserved was never paid. `}
        {count(report.figures.refunded)} {report.figures.refunded === 1 ? 'order was' : 'orders were'} refunded since.
      </p>
    </Section>
  )
}

/** The rate that the sale asked for last, and the highest one that it reached. */
function ratesOf({ curves }: Report): readonly [asked: number | null, reached: number | null] {
  const known = (name: string) => curves.minutes.flatMap(({ gauges }) => gauges[name] ?? [])
  const reached = known('called_per_second')
  return [known('rate_target').at(-1) ?? null, reached.length === 0 ? null : Math.max(...reached)]
}

function Forecast({ report }: Props) {
  const { expected_visitors, figures, forecast, waits } = report
  const [asked, reached] = ratesOf(report)
  const rows = [
    ['Joined', expected_visitors, figures.joined],
    ['Called a second, at most', asked, reached],
  ] as const
  return (
    <Section title="Forecast, and what happened">
      <table>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col" class="n">
              Forecast
            </th>
            <th scope="col" class="n">
              Happened
            </th>
            <th scope="col" class="n wide">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, expected, happened]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="n">{expected === null ? 'none set' : figure(expected)}</td>
              <td class="n">{happened === null ? 'unknown' : figure(happened)}</td>
              <td class="n wide quiet">{expected === null ? '–' : apart(expected, happened)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="small quiet">
        {forecast.compared > 0 &&
          `Forecasts of joins ten minutes ahead were wrong by ${percent(forecast.median_error)} in half of ` +
            `${count(forecast.compared)} cases, by ${percent(forecast.worst_error)} at worst. `}
        {waits.compared > 0
          ? `Waits shown were wrong by ${figure(waits.median_error_seconds ?? 0)} s in half of the minutes, by ` +
            `${figure(waits.worst_error_seconds ?? 0)} s at worst.`
          : 'In no minute are both the shown and the real wait known.'}
      </p>
    </Section>
  )
}

const RECOUNTED = { joined: 'Joined', reserved: 'Reserved', paid: 'Paid', sold: 'Units sold' } as const

const Recounted = ({ report: { recounted, made_at } }: Props) => (
  <Section title="Live, and counted again">
    <table>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col" class="n">
            Live
          </th>
          <th scope="col" class="n">
            Now
          </th>
          <th scope="col" class="n">
            Apart
          </th>
        </tr>
      </thead>
      <tbody>
        {recounted.map(({ what, live, now }) => (
          <tr key={what}>
            <th scope="row">{RECOUNTED[what]}</th>
            <td class="n">{countOrUnknown(live)}</td>
            <td class="n">{countOrUnknown(now)}</td>
            <td class="n quiet">{apart(live, now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <p class="small quiet">
      This report shows what was counted again, {moment(made_at)}: orders and stock from the ledger, joins by source.
    </p>
  </Section>
)

const Announced = ({ report: { announcements } }: Props) => (
  <Section title="What visitors were told">
    {announcements.length === 0 && <p class="quiet">Nothing was announced.</p>}
    {announcements.map(({ level, text, since, until, operator }) => (
      <Words
        key={since}
        title={
          `${moment(since)} ${until === null ? 'and still' : `to ${moment(until)}`}, ` +
          `${level === 'warning' ? 'a warning ' : ''}by ${operator}`
        }
        text={text}
      />
    ))}
  </Section>
)
