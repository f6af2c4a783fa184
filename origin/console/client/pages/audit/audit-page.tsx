/** Who changed what: filters in the address, each entry as the fields that differ, and a link to export what is shown. */
import './audit.css'
import { useQuery } from '@tanstack/preact-query'
import { Link, useLocation, useSearch } from 'wouter-preact'
import type { AsJson, AuditRow } from '../../../../../shared/api/operator.ts'
import { admin, read } from '../../api.ts'
import { Failure, instant, Loading, textIn, useTitle } from '../../parts.tsx'
import { changesOf } from './diff.ts'

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
      <h1>Audit</h1>
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
      <ol class="audit">
        {data?.entries.map((entry) => (
          <Entry key={entry.entry} entry={entry} addressWith={addressWith} />
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
  readonly entry: AsJson<AuditRow>
  addressWith(changes: Record<string, string>): string
}

function Entry({ entry, addressWith }: EntryProps) {
  const { at, operator, action, sale, product_id, order_id, before, after } = entry
  const changes = changesOf(before, after)
  return (
    <li class="card">
      <p class="badges">
        <b>{action.replaceAll('_', ' ')}</b>
        <Link href={addressWith({ operator })}>{operator}</Link>
        {sale !== null && <Link href={addressWith({ sale })}>{sale}</Link>}
        {product_id !== null && <span>{product_id}</span>}
        {order_id !== null && <Link href={`/console/orders/${order_id}`}>order …{order_id.slice(-8)}</Link>}
        <time class="quiet" datetime={at}>
          {instant(at)}
        </time>
      </p>
      {changes.length > 0 && (
        <dl class="audit-changes">
          {changes.map((change) => (
            <div key={change.field}>
              <dt>{change.field}</dt>
              <dd>
                {change.before !== undefined &&
                  (change.after === undefined ? `was ${change.before}` : <del>{change.before}</del>)}{' '}
                {change.after !== undefined && <ins>{change.after}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
}
