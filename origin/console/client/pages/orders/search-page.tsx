/**
 * The search for orders while the operator types. The address contains the search and its filters, so Back and a
 * shared link work.
 */
import './orders.css'
import { useSignal } from '@preact/signals'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useEffect, useRef } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter-preact'
import type { FoundOrder } from '../../../../../shared/api/operators/answers.ts'
import { ORDER_STATUSES } from '../../../../../shared/api/order-status.ts'
import { money } from '../../../../../shared/format.ts'
import { admin, read, readSales } from '../../api.ts'
import { Choose, Failure, instant, moment, useTitle } from '../../parts.tsx'
import { Head } from '../../sheet/page.tsx'
import { accountOf, boughtIn } from './order.ts'
import { forgetSearches, keepSearch, recentSearches } from './recent.ts'

/** The first key searches at once. Further keys within this time cause one search. */
const DEBOUNCE_MS = 60
const FILTERS = ['sale', 'product', 'status'] as const
type Filter = (typeof FILTERS)[number]
const ALL = ['', 'All'] as const

export function SearchPage() {
  const [, navigate] = useLocation()
  const query = useSearch()
  const params = new URLSearchParams(query)
  const text = params.get('q') ?? ''
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef(0)
  const recent = useSignal(recentSearches())
  // The search also works without the list of sales.
  const { sales = [] } = useQuery({ queryKey: ['sales'], queryFn: readSales }).data ?? {}
  const search = useSearchOrders(params)
  const found = search.data?.pages.flatMap(({ orders }) => orders)

  useTitle('Orders · Console')
  useEffect(() => () => clearTimeout(timer.current), [])
  // The field keeps the typed text, while Back and a recent search write into it.
  useEffect(() => {
    if (field.current && timer.current === 0) field.current.value = text
  }, [text])

  const show = (changes: Readonly<Partial<Record<'q' | Filter, string>>>, replace = false) => {
    const next = new URLSearchParams(location.search)
    const before = `${next}`
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') next.delete(name)
      else next.set(name, value)
    }
    if (`${next}` !== before) navigate(`/console/orders${next.size > 0 ? `?${next}` : ''}`, { replace })
  }
  const find = () => show({ q: field.current?.value ?? '' }, true)
  const typed = () => {
    if (timer.current === 0) find()
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      timer.current = 0
      find()
    }, DEBOUNCE_MS)
  }
  const keep = () => {
    keepSearch(text)
    recent.value = recentSearches()
  }
  const sale = params.get('sale') ?? ''
  const known = sales.find((one) => one.sale === sale)
  const named = sales.map((one) => [one.sale, `${one.name} (${one.sale}, ${instant(one.opens_at)})`] as const)
  const choices = known || sale === '' ? named : [...named, [sale, sale] as const]

  return (
    <>
      <Head title="Orders" />
      <form
        class="search"
        aria-label="Search"
        onSubmit={(event) => {
          event.preventDefault()
          keep()
        }}
      >
        <label class="text">
          Find an order
          <input
            ref={field}
            type="search"
            defaultValue={text}
            maxLength={200}
            autocomplete="off"
            spellcheck={false}
            placeholder="Number, mail, visitor, account, charge, product, seat, note"
            onInput={typed}
          />
        </label>
        <Choose
          label="Sale"
          value={sale}
          options={[ALL, ...choices]}
          onChoose={(value) => show({ sale: value, product: '' })}
        />
        {sale !== '' && (
          <Choose
            label="Product"
            value={params.get('product') ?? ''}
            options={[ALL, ...(known?.products ?? []).map((one) => [one.product_id, one.name] as const)]}
            onChoose={(value) => show({ product: value })}
          />
        )}
        <Choose
          label="Status"
          value={params.get('status') ?? ''}
          options={[ALL, ...ORDER_STATUSES.filter((one) => one !== 'processing').map((one) => [one, one] as const)]}
          onChoose={(value) => show({ status: value })}
        />
      </form>
      {recent.value.length > 0 && (
        <p class="recent">
          <span class="quiet">Your searches</span>
          {recent.value.map((one) => (
            <button key={one} type="button" onClick={() => show({ q: one })}>
              {one}
            </button>
          ))}
          <button
            type="button"
            class="link"
            onClick={() => {
              forgetSearches()
              recent.value = []
            }}
          >
            Clear
          </button>
        </p>
      )}
      {sale !== '' && (
        <p class="exports">
          All orders of this sale as{' '}
          <a href={`/admin/sales/${encodeURIComponent(sale)}/orders?format=csv`} download>
            CSV
          </a>{' '}
          or{' '}
          <a href={`/admin/sales/${encodeURIComponent(sale)}/orders?format=ndjson`} download>
            NDJSON
          </a>
        </p>
      )}
      <Failure error={search.error} />
      <p class="quiet" role="status">
        {found ? tally(found.length, search.hasNextPage) : search.isFetching && 'Searching …'}
      </p>
      {found && found.length > 0 && (
        <ul class={`found ${search.isFetching ? 'old' : ''}`} aria-label="Orders found">
          {found.map((order) => (
            <li key={order.order_id}>
              <FoundRow order={order} onOpen={keep} />
            </li>
          ))}
        </ul>
      )}
      {search.hasNextPage && (
        <p>
          <button type="button" disabled={search.isFetching} onClick={() => void search.fetchNextPage()}>
            More
          </button>
        </p>
      )}
    </>
  )
}

/**
 * Reads the orders that a search finds, page by page. A newer search aborts the call before it, which would keep a
 * connection busy.
 */
function useSearchOrders(params: URLSearchParams) {
  const given = [...params].filter(([name]) => name === 'q' || FILTERS.some((one) => one === name))
  const search = { q: '', ...Object.fromEntries(given) }
  return useInfiniteQuery({
    queryKey: ['orders', search],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...search, ...(pageParam !== null && { after: pageParam }) }
      return read(admin.orders.$get({ query }, { init: { signal } }))
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
}

function tally(orders: number, isMore: boolean): string {
  if (orders === 0)
    return 'No order found. One typing error in a mail or a note is forgiven; a filter may be in the way.'
  const found = `${orders} ${orders === 1 ? 'order' : 'orders'}`
  return isMore ? `${found} shown, there are more` : found
}

function FoundRow({ order, onOpen }: { order: FoundOrder; onOpen: () => void }) {
  const { order_id, short_number, sale, sale_name, status, visitor, email, ticket_number } = order
  return (
    <Link href={`/console/orders/${order_id}`} onClick={onOpen}>
      <span class={`phase ${status}`}>{status}</span>
      <span class="who">
        <b>{email ?? accountOf(visitor) ?? visitor}</b>
        <small>
          {short_number ?? `${order_id.slice(0, 8)}…`}, ticket {ticket_number}
        </small>
      </span>
      <span class="what">
        {boughtIn(order)}
        <small>
          {sale_name} <code>{sale}</code>
        </small>
      </span>
      <span class="amount">{money('en', order.total_minor, order.currency)}</span>
      <time dateTime={order.created_at}>{moment(order.created_at)}</time>
    </Link>
  )
}
