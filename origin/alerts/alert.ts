/**
 * What is told to the people on call: a finding, or any other fault with a severity, a sentence, and what to do. A
 * report of a sale has the same form. Pure.
 */
import type { Alert } from '../../shared/api/operators/alerts.ts'
import type { SaleReport } from '../../shared/api/operators/report.ts'
import { capital, clock, count, money } from '../../shared/format.ts'
import { FINDING_ADVICE, reasonIn } from '../report/health/finding-advice.ts'

/** The data of the event `finding.opened`. */
export interface OpenedFinding {
  readonly finding: string
  readonly sale: string | null
  readonly product_id: string | null
  readonly kind: string
  readonly subject: string | null
  readonly units: number
  readonly detail: unknown
}

interface Around {
  readonly at: string
  /** The name of the sale; null for a finding without one. */
  readonly saleName: string | null
  /** The number of times that the same finding opened within a day, this one included. */
  readonly times: number
  readonly consoleUrl: string | null
  /** Says in words why an endpoint accepts no message. */
  readonly reasonOf: (error: string) => string
}

const linkTo = (consoleUrl: string | null, path: string) =>
  consoleUrl === null ? null : new URL(path, `${consoleUrl}/`).href

export function findingAlert(finding: OpenedFinding, { at, saleName, times, consoleUrl, reasonOf }: Around): Alert {
  const { sale, product_id, kind, subject, units, detail } = finding
  const { level, advice } = FINDING_ADVICE[kind] ?? FINDING_ADVICE.unknown
  const { order, endpoint } = (detail ?? {}) as Readonly<Record<string, unknown>>
  const reason = reasonIn(kind, detail, reasonOf)
  const facts: (readonly [string, string] | false)[] = [
    sale !== null && ['Sale', saleName === null ? sale : `${saleName} (${sale})`],
    product_id !== null && ['Product', product_id],
    units > 0 && ['Units', String(units)],
    typeof order === 'string' && ['Order', order],
    subject !== null && subject !== endpoint && ['About', subject],
    reason !== null && ['Why', reason],
    times > 1 && ['Within a day', `${times} times`],
  ]
  return {
    key: ['finding', kind, sale ?? '', product_id ?? '', subject ?? ''].join(':'),
    severity: level === 'bad' ? 'page' : 'warn',
    title: `${capital(kind.replaceAll('_', ' '))}${saleName === null ? '' : `, ${saleName}`}`,
    text: advice,
    facts: facts.filter((fact) => fact !== false),
    link: linkTo(consoleUrl, sale === null ? '/console/findings' : `/console/sales/${encodeURIComponent(sale)}`),
    at,
  }
}

/** An alert without a fault, by which an operator sees where alerts arrive. */
export const testAlert = (operator: string, at: string, consoleUrl: string | null): Alert => ({
  key: `test:${operator}`,
  severity: 'info',
  title: 'A test of alerts',
  text: `${operator} tries whether alerts arrive here. Nothing is wrong.`,
  facts: [],
  link: linkTo(consoleUrl, '/console/findings'),
  at,
})

type Reported = Pick<SaleReport, 'name' | 'sale' | 'phase' | 'incidents'> & {
  readonly figures: Pick<
    SaleReport['figures'],
    'units' | 'revenue' | 'sold_out_at' | 'duration_seconds' | 'joined' | 'conversion'
  >
}

const inWords = (value: number) => count('en', value)
const percent = (share: number | null) => (share === null ? 'not known' : `${(100 * share).toFixed(1)} %`)

/** The report of a sale in a few lines. */
export function reportAlert(report: Reported, at: string, consoleUrl: string | null): Alert {
  const { name, sale, phase, figures, incidents } = report
  const { units, revenue, sold_out_at, duration_seconds, joined, conversion } = figures
  const found = incidents.filter(({ kind }) => kind === 'finding')
  const open = found.filter(({ until }) => until === null).length
  const isOver = phase === 'sold_out' || phase === 'ended'
  const end =
    sold_out_at !== null
      ? `It sold out in about ${clock('en', duration_seconds)}.`
      : isOver
        ? 'It is over.'
        : phase === 'upcoming'
          ? 'It has not opened yet.'
          : 'It is not over yet.'
  const wrong =
    found.length === 0 ? 'Nothing was found wrong.' : `${inWords(found.length)} findings, ${inWords(open)} open.`
  return {
    key: `report:${sale}:${at}`,
    severity: 'info',
    title: `${name}: ${inWords(units.sold)} of ${inWords(units.total)} sold`,
    text: `${end} ${wrong}`,
    facts: [
      ['Sold', `${inWords(units.sold)} of ${inWords(units.total)}`],
      ['Held', inWords(units.held)],
      ['Free', inWords(units.free)],
      ...revenue.map(({ currency, left_minor }) => ['Revenue', money('en', left_minor, currency)] as const),
      ['Joined', joined === null ? 'not known' : inWords(joined)],
      ['Paid of those who joined', percent(conversion.joined_to_paid)],
    ],
    link: linkTo(consoleUrl, `/console/sales/${encodeURIComponent(sale)}/report`),
    at,
  }
}
