/**
 * The audit log: filters in the address, sentences by day with their fields on demand, an action's undoing beside it,
 * and a link to export the shown entries.
 */
import './audit.css'
import { useQuery } from '@tanstack/preact-query'
import { Link, useLocation, useSearch } from 'wouter-preact'
import { clock } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { count, instant, textIn, time } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { Chip } from '../../sheet/controls.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Columns, EmptyState, Head, Section } from '../../sheet/page.tsx'
import { ACTION_ICONS } from '../sale/sides.tsx'
import type { Change } from './diff.ts'
import { describe, type Entry } from './sentences.ts'
import { type Told, withUndoings } from './undone.ts'

const FILTERS = ['sale', 'operator', 'action'] as const
const NAMES = { sale: 'Sale', operator: 'Operator', action: 'Action' } as const
type AddressWith = (changes: Readonly<Record<string, string>>) => string

export function AuditPage() {
  const query = useSearch()
  const [, navigate] = useLocation()
  const params = new URLSearchParams(query)
  const { data, error } = useQuery({
    queryKey: ['audit', query],
    queryFn: () => read(admin.audit.$get({ query: Object.fromEntries(params) })),
  })
  useTitle('Audit · Console')

  const addressWith: AddressWith = (changes) => {
    const next = new URLSearchParams(query)
    next.delete('after')
    for (const [name, value] of Object.entries(changes)) value === '' ? next.delete(name) : next.set(name, value)
    return `/console/audit${next.size > 0 ? `?${next}` : ''}`
  }
  const exported = new URLSearchParams(
    FILTERS.flatMap((name) => (params.has(name) ? [[name, params.get(name) ?? '']] : [])),
  )
  const entries = data?.entries ?? []
  const told = withUndoings(entries)
  return (
    <>
      <Head title="Audit" sub="who changed or read what; nobody can change it">
        <div class="row">
          <a class="btn" href={`/admin/audit?${exported}&format=csv`} download>
            <Icon name="save" />
            CSV
          </a>
          <a class="btn" href={`/admin/audit?${exported}&format=ndjson`} download>
            <Icon name="save" />
            NDJSON
          </a>
        </div>
      </Head>
      <Filters key={query} params={params} onSet={(changes) => navigate(addressWith(changes))} />
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && entries.length === 0 && (
        <EmptyState text="There is no such entry.">
          <Link class="btn" href="/console/audit">
            See all entries
          </Link>
        </EmptyState>
      )}
      {entries.length > 0 && (
        <Columns split="minmax(0, 7fr) minmax(15rem, 2.6fr)">
          <div>
            {byDay(told).map(([day, told]) => (
              <Section
                key={day}
                title={day}
                aside={<span class="small quiet">{entriesIn(told.length + undoneIn(told))}</span>}
              >
                <ol class="story log">
                  {told.map((one) => (
                    <Item key={one.entry.entry} told={one} addressWith={addressWith} />
                  ))}
                </ol>
              </Section>
            ))}
            <nav class="sec" aria-label="Pages">
              <p class="row">
                {params.has('after') && (
                  <Link class="btn" href={addressWith({})}>
                    Newest
                  </Link>
                )}
                {data?.next && (
                  <Link class="btn" href={addressWith({ after: data.next })}>
                    Older
                  </Link>
                )}
                <span class="small quiet">{entriesIn(entries.length)} on this page</span>
              </p>
            </nav>
          </div>
          <ByWhom entries={entries} undone={undoneIn(told)} addressWith={addressWith} />
        </Columns>
      )}
    </>
  )
}

const entriesIn = (many: number) => `${count(many)} ${many === 1 ? 'entry' : 'entries'}`

const undoneIn = (told: readonly Told[]) => told.filter(({ undoing }) => undoing !== null).length

const dayOf = (at: string) =>
  new Date(at).toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })

/** An action stands on its own day, with its undoing of whichever day. */
const byDay = (told: readonly Told[]) => [...Map.groupBy(told, ({ entry }) => dayOf(entry.at))]

interface FiltersProps {
  readonly params: URLSearchParams
  onSet(changes: Readonly<Record<string, string>>): void
}

function Filters({ params, onSet }: FiltersProps) {
  const [on, off] = [FILTERS.filter((name) => params.has(name)), FILTERS.filter((name) => !params.has(name))]
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    onSet(Object.fromEntries(off.map((name) => [name, textIn(form, name)])))
  }
  return (
    <section class="sec filters" aria-label="Filters">
      <form class="row" onSubmit={submit}>
        {on.map((name) => (
          <Chip key={name} on onToggle={() => onSet({ [name]: '' })}>
            {NAMES[name]}: {params.get(name)}
          </Chip>
        ))}
        {off.map((name) => (
          <label key={name} class="field">
            <span class="unseen">{NAMES[name]}</span>
            <input name={name} maxLength={200} placeholder={NAMES[name]} size={12} />
          </label>
        ))}
        {off.length > 0 && (
          <button type="submit" class="btn">
            Show
          </button>
        )}
      </form>
    </section>
  )
}

interface ItemProps {
  readonly told: Told
  readonly addressWith: AddressWith
}

const iconOf = ({ action }: Entry) => ACTION_ICONS[action] ?? (action.includes('read') ? 'eye' : 'note')

function Item({ told: { entry, undoing }, addressWith }: ItemProps) {
  return (
    <li class={undoing === null ? 'is-info' : 'is-info was-undone'}>
      <span class="mk">
        <Icon name={iconOf(entry)} />
      </span>
      <div class="stack tight-stack">
        <Sentence entry={entry} addressWith={addressWith} />
        {undoing && (
          <div class="undoing">
            <span class="mk">
              <Icon name="undo" />
            </span>
            <div class="stack tight-stack">
              <Sentence entry={undoing} addressWith={addressWith} after={entry} />
            </div>
            <time dateTime={undoing.at}>
              {dayOf(undoing.at) === dayOf(entry.at) ? time(undoing.at) : instant(undoing.at)}
            </time>
          </div>
        )}
      </div>
      <time dateTime={entry.at}>{time(entry.at)}</time>
    </li>
  )
}

interface SentenceProps {
  readonly entry: Entry
  readonly addressWith: AddressWith
  /** The entry that it undoes. */
  readonly after?: Entry
}

function Sentence({ entry, addressWith, after }: SentenceProps) {
  const { operator, action, sale, sale_name, order_id } = entry
  const { sentence, changes } = describe(entry)
  return (
    <>
      <p>
        <Link class="who" href={addressWith({ operator })}>
          {operator}
        </Link>
        {sentence === null ? `: ${action.replaceAll('_', ' ')}` : ` ${sentence}`}
        {/[.”]$/.test(sentence ?? '') ? '' : '.'}
      </p>
      <div class="row small quiet meta">
        {after && <span>undone after {clock('en', (Date.parse(entry.at) - Date.parse(after.at)) / 1_000)}</span>}
        {!after && sale === null && <span>of no sale</span>}
        {!after && sale !== null && (
          <Link href={addressWith({ sale })} title={sale}>
            {sale_name ?? sale}
          </Link>
        )}
        {!after && order_id !== null && <Link href={`/console/orders/${order_id}`}>order …{order_id.slice(-8)}</Link>}
        {changes.length > 0 && <Fields changes={changes} />}
      </div>
    </>
  )
}

const Fields = ({ changes }: { readonly changes: readonly Change[] }) => (
  <details>
    <summary>{changes.length === 1 ? '1 field' : `${changes.length} fields`}</summary>
    <table class="fields">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row" class="mono">
              {field}
            </th>
            {[before, after].map((value, i) => (
              <td key={i} class="mono">
                {value ?? <span class="quiet">none</span>}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </details>
)

interface ByWhomProps {
  readonly entries: readonly Entry[]
  readonly undone: number
  readonly addressWith: AddressWith
}

/** This side counts who made the entries of the page, and how many of them were undone. */
function ByWhom({ entries, undone, addressWith }: ByWhomProps) {
  const people = [...Map.groupBy(entries, ({ operator }) => operator)].toSorted(([, a], [, b]) => b.length - a.length)
  const most = Math.max(...people.map(([, { length }]) => length))
  return (
    <div>
      <Section title="By whom" aside={<span class="small quiet">{entriesIn(entries.length)}</span>}>
        <ul class="bars">
          {people.map(([operator, { length }]) => (
            <li key={operator} style={`--wide: ${(100 * length) / most}%`}>
              <span>
                <Link class="who plain" href={addressWith({ operator })}>
                  {operator}
                </Link>
              </span>
              <b>{count(length)}</b>
              <span>{Math.round((100 * length) / entries.length)} %</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Undone" aside={<span class="small quiet">{`${undone} of ${entries.length}`}</span>}>
        <p class="small quiet">An action that was undone stands together with its undoing. Both are entries.</p>
      </Section>
    </div>
  )
}
