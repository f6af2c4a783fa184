/**
 * The audit log: filters in the address, a sentence for each entry with its fields on demand, and a link to export
 * the shown entries.
 */
import './audit.css'
import { useQuery } from '@tanstack/preact-query'
import { Link, useLocation, useSearch } from 'wouter-preact'
import { admin, read } from '../../api.ts'
import { Failure, instant, Loading, textIn, useTitle } from '../../parts.tsx'
import { Head } from '../../sheet/page.tsx'
import { describe, type Entry } from './sentences.ts'

const FILTERS = ['sale', 'operator', 'action'] as const

export function AuditPage() {
  const query = useSearch()
  const [, navigate] = useLocation()
  const params = new URLSearchParams(query)
  const { data, error } = useQuery({
    queryKey: ['audit', query],
    queryFn: () => read(admin.audit.$get({ query: Object.fromEntries(params) })),
  })
  useTitle('Audit · Console')

  const addressWith = (changes: Readonly<Record<string, string>>) => {
    const next = new URLSearchParams(query)
    next.delete('after')
    for (const [name, value] of Object.entries(changes)) value === '' ? next.delete(name) : next.set(name, value)
    return `/console/audit${next.size > 0 ? `?${next}` : ''}`
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    navigate(addressWith(Object.fromEntries(FILTERS.map((name) => [name, textIn(form, name)]))))
  }
  const exported = new URLSearchParams(
    FILTERS.flatMap((name) => (params.has(name) ? [[name, params.get(name) ?? '']] : [])),
  )
  return (
    <>
      <Head title="Audit" />
      <form class="audit-filters" onSubmit={submit} key={query}>
        {FILTERS.map((name) => (
          <label key={name}>
            {name[0]?.toUpperCase() + name.slice(1)}
            <input name={name} defaultValue={params.get(name) ?? ''} maxLength={200} />
          </label>
        ))}
        <p class="buttons start">
          <button type="submit">Show</button>
          {exported.size > 0 && <Link href="/console/audit">All</Link>}
          <a href={`/admin/audit?${exported}&format=csv`} download>
            CSV
          </a>
          <a href={`/admin/audit?${exported}&format=ndjson`} download>
            NDJSON
          </a>
        </p>
      </form>
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data?.entries.length === 0 && <p>There is no such entry.</p>}
      <ol class="sec audit">
        {data?.entries.map((entry) => (
          <Item key={entry.entry} entry={entry} addressWith={addressWith} />
        ))}
      </ol>
      <nav class="badges" aria-label="Pages">
        {params.has('after') && <Link href={addressWith({})}>Newest</Link>}
        {data?.next && <Link href={addressWith({ after: data.next })}>Older</Link>}
      </nav>
    </>
  )
}

interface EntryProps {
  readonly entry: Entry
  addressWith(changes: Record<string, string>): string
}

function Item({ entry, addressWith }: EntryProps) {
  const { at, operator, action, sale, sale_name, order_id } = entry
  const { sentence, changes } = describe(entry)
  return (
    <li>
      <p>
        <Link href={addressWith({ operator })}>{operator}</Link>
        {sentence === null ? `: ${action.replaceAll('_', ' ')}` : ` ${sentence}`}
        {/[.”]$/.test(sentence ?? '') ? '' : '.'}
      </p>
      <div class="badges about">
        <time dateTime={at}>{instant(at)}</time>
        {sale !== null && (
          <span>
            <Link href={addressWith({ sale })}>{sale_name ?? sale}</Link> <code>{sale}</code>
          </span>
        )}
        {order_id !== null && <Link href={`/console/orders/${order_id}`}>order …{order_id.slice(-8)}</Link>}
        {changes.length > 0 && (
          <details>
            <summary>Fields</summary>
            <dl>
              {changes.map(({ field, before, after }) => (
                <div key={field}>
                  <dt>{field}</dt>
                  <dd>
                    <code>{after === undefined ? `was ${before}` : [before, after].filter(Boolean).join(' → ')}</code>
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </li>
  )
}
