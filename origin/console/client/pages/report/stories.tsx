/** What went wrong beside what was done: findings with how long they lasted, and actions in sentences. */
import { Link } from 'wouter-preact'
import { capital, roughly } from '../../../../../shared/format.ts'
import { moment, time } from '../../format.ts'
import { Icon } from '../../sheet/icon.tsx'
import { Columns, Section } from '../../sheet/page.tsx'
import { describe } from '../audit/sentences.ts'
import { ACTION_ICONS } from '../sale/sides.tsx'
import type { Report } from './read-report.ts'

type Incident = Report['incidents'][number]

export function Stories({ report }: { readonly report: Report }) {
  const found = report.incidents.filter(({ kind }) => kind === 'finding').toReversed()
  const done = report.incidents.filter(({ kind }) => kind === 'action').toReversed()
  const open = found.filter(({ until }) => until === null).length
  const names = new Map(report.figures.products.map(({ product_id, name }) => [product_id, name]))
  return (
    <Columns split="repeat(2, minmax(0, 1fr))">
      <Section
        title="What went wrong"
        id="wrong"
        aside={found.length > 0 && <span class="small quiet">{open === 0 ? 'none is open' : `${open} open`}</span>}
      >
        {found.length === 0 && <p class="quiet">Nothing was found wrong.</p>}
        <ol class="story">
          {found.map((one, i) => (
            <Found key={i} finding={one} names={names} />
          ))}
        </ol>
      </Section>
      <Section
        title="What was done"
        aside={
          <Link class="small" href={`/console/audit?sale=${report.sale}`}>
            Audit
          </Link>
        }
      >
        {done.length === 0 && <p class="quiet">Nothing was done.</p>}
        <ol class="story">
          {done.map((one, i) => (
            <Done key={i} action={one} names={names} />
          ))}
        </ol>
      </Section>
    </Columns>
  )
}

type Names = ReadonlyMap<string, string>
const textIn = (value: unknown) => (typeof value === 'string' ? value : null)
const clockOf = (at: string, day: string) => (at.slice(0, 10) === day.slice(0, 10) ? time(at) : moment(at))

function Found({ finding: { at, what, until, detail }, names }: { readonly finding: Incident; readonly names: Names }) {
  const product = textIn(detail.product_id)
  const about = [product && (names.get(product) ?? product), textIn(detail.subject)].filter((one) => one !== null)
  const units = typeof detail.units === 'number' && detail.units !== 0 ? `, ${detail.units} units` : ''
  const lasted = until === null ? null : (Date.parse(until) - Date.parse(at)) / 1_000
  return (
    <li class={until === null ? 'is-bad' : 'is-watch'}>
      <span class="mk">
        <Icon name="warn" />
      </span>
      <div>
        <p>
          <b>{sentence(what.replaceAll('_', ' '))}</b>
          {about.length > 0 && ` ${about.join(', ')}`}
          {units}
        </p>
        <p class="small quiet">
          {lasted === null ? 'Still open.' : `For about ${roughly('en', lasted)}, until ${clockOf(until ?? '', at)}.`}
          {textIn(detail.outcome) !== null && ` ${sentence(textIn(detail.outcome) ?? '')}`}
        </p>
      </div>
      <time dateTime={at}>{moment(at)}</time>
    </li>
  )
}

const sentence = (text: string) => `${capital(text)}.`

function Done({ action: { at, what, by, detail }, names }: { readonly action: Incident; readonly names: Names }) {
  const product_id = textIn(detail.product_id)
  const told = describe({
    action: what,
    before: detail.before,
    after: detail.after,
    product_id,
    product_name: (product_id && names.get(product_id)) ?? null,
    currency: null,
    is_parcel: null,
  })
  return (
    <li class="is-info">
      <span class="mk">
        <Icon name={ACTION_ICONS[what] ?? 'note'} />
      </span>
      <p>
        <b>{by}</b> {told.sentence ?? what.replaceAll('_', ' ')}
      </p>
      <time dateTime={at}>{moment(at)}</time>
    </li>
  )
}
