/** All sales in use: those with problems first, followed by running, future and past ones. */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { admin, read } from './api.ts'
import { count, Failure, instant, Loading, useTitle } from './parts.tsx'
import { may } from './session.ts'

export const readSales = () => read(admin.sales.$get())
type Sale = Awaited<ReturnType<typeof readSales>>['sales'][number]

const REFRESH_MS = 3_000
const PHASES = ['open', 'all_in_carts', 'paused', 'upcoming', 'sold_out', 'ended']

export function SalesPage() {
  const { data, error } = useQuery({ queryKey: ['sales'], queryFn: readSales, refetchInterval: REFRESH_MS })
  const words = useSignal('')
  useTitle('Sales · Console')
  const typed = words.value.toLowerCase().split(/\s+/)
  const found = (data?.sales ?? [])
    .filter(({ sale, name }) => typed.every((word) => `${sale} ${name}`.toLowerCase().includes(word)))
    .map((sale) => ({ ...sale, findings: data?.findings[sale.sale] ?? 0 }))
    .sort(byUrgency)
  return (
    <>
      <div class="heading">
        <h1>Sales</h1>
        {may('operator') && (
          <Link class="button" href="/console/sales/new">
            New sale
          </Link>
        )}
        <label class="sales-search">
          Search
          <input
            type="search"
            value={words.value}
            onInput={({ currentTarget }) => {
              words.value = currentTarget.value
            }}
          />
        </label>
      </div>
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && found.length === 0 && (
        <p>{data.sales.length === 0 ? 'There is no sale yet.' : 'No sale has these words.'}</p>
      )}
      <ul class="cards">
        {found.map((sale) => (
          <SaleCard key={sale.sale} sale={sale} />
        ))}
      </ul>
    </>
  )
}

type Found = Sale & { readonly findings: number }

function byUrgency(a: Found, b: Found): number {
  const rank = ({ invariant, findings, phase }: Found) =>
    !invariant.holds ? -2 : findings > 0 ? -1 : PHASES.indexOf(phase)
  // The next sale to open comes first, and so does the last one that ended.
  const time = Date.parse(a.opens_at) - Date.parse(b.opens_at)
  return rank(a) - rank(b) || (a.phase === 'upcoming' ? time : -time)
}

function SaleCard({ sale: { sale, name, phase, opens_at, test, invariant, findings } }: { sale: Found }) {
  const { total, sold, holds } = invariant
  return (
    <li class={`card ${holds ? '' : 'wrong'}`}>
      <h2>
        <Link href={`/console/sales/${sale}`}>{name}</Link>
      </h2>
      <small class="quiet">
        <code>{sale}</code>
      </small>
      <p class="badges">
        <span class={`phase ${phase}`}>{phase.replaceAll('_', ' ')}</span>
        {test && <span class="phase">test</span>}
        <span class="quiet">
          {phase === 'upcoming' ? 'opens' : 'opened'} {instant(opens_at)}
        </span>
      </p>
      <span class="units" role="img" aria-label={`${count(sold)} of ${count(total)} sold`}>
        <i class="sold" style={`width: ${total > 0 ? (100 * sold) / total : 0}%`} />
      </span>
      <p aria-hidden="true">
        {count(sold)} of {count(total)} sold
      </p>
      {!holds && <p class="bad">Stock does not add up.</p>}
      {findings > 0 && (
        <p class="bad">
          {count(findings)} {findings === 1 ? 'finding is' : 'findings are'} open.
        </p>
      )}
      {may('operator') && (
        <p>
          <Link href={`/console/sales/new?copy=${sale}`} aria-label={`Copy ${name}`}>
            Copy
          </Link>
        </p>
      )}
    </li>
  )
}
