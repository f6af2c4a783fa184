/** The search for orders, as one types. The address has the search and its filters, so Back and a shared link work. */
import './orders.css'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter-preact'
import type { FoundOrder } from '../../../../../shared/api/operator.ts'
import { money } from '../../../../../shared/format.ts'
import { ORDER_STATUSES } from '../../../../../shared/order-status.ts'
import { get } from '../../api.ts'
import { Failure, moment } from '../../parts.tsx'
import { accountOf } from './order.ts'
import { forgetSearches, keepSearch, recentSearches } from './recent.ts'

interface Found {
  readonly orders: readonly FoundOrder[]
  readonly next: string | null
}
interface SaleChoice {
  readonly sale: string
  readonly name: string
  readonly products: readonly { readonly product_id: string; readonly name: string }[]
}

/** The first key searches at once, and those that follow within this time together. */
const DEBOUNCE_MS = 60
const FILTERS = ['sale', 'product', 'status'] as const
type Filter = (typeof FILTERS)[number]

export function SearchPage() {
  const [, navigate] = useLocation()
  const query = useSearch()
  const params = new URLSearchParams(query)
  const text = params.get('q') ?? ''
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef(0)
  const sales = useSignal<readonly SaleChoice[]>([])
  const recent = useSignal(recentSearches())
  const { found, error, isLoading, more } = useFound(query)

  useEffect(() => {
    document.title = 'Orders · Console'
    get<{ sales: SaleChoice[] }>('/admin/sales').then(
      (answer) => {
        sales.value = answer.sales
      },
      // Without the list the search works all the same.
      () => {},
    )
    return () => clearTimeout(timer.current)
  }, [])
  // What was typed last stays as it is; Back and a recent search write into the field.
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
  const search = () => show({ q: field.current?.value ?? '' }, true)
  const typed = () => {
    if (timer.current === 0) search()
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      timer.current = 0
      search()
    }, DEBOUNCE_MS)
  }
  const keep = () => {
    keepSearch(text)
    recent.value = recentSearches()
  }
  const sale = params.get('sale') ?? ''
  const choices = sales.value.some((one) => one.sale === sale)
    ? sales.value
    : [...sales.value, ...(sale === '' ? [] : [{ sale, name: sale, products: [] }])]
  const products = choices.find((one) => one.sale === sale)?.products ?? []

  return (
    <>
      <h1>Orders</h1>
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
            placeholder="Number, mail, visitor, account, charge, product, note"
            onInput={typed}
          />
        </label>
        <Choice
          name="Sale"
          value={sale}
          options={choices.map((one) => [one.sale, one.name])}
          onChoose={(value) => show({ sale: value, product: '' })}
        />
        {sale !== '' && (
          <Choice
            name="Product"
            value={params.get('product') ?? ''}
            options={products.map(({ product_id, name }) => [product_id, name])}
            onChoose={(value) => show({ product: value })}
          />
        )}
        <Choice
          name="Status"
          value={params.get('status') ?? ''}
          options={ORDER_STATUSES.filter((one) => one !== 'processing').map((one) => [one, one])}
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
      <Failure error={error} />
      <p class="quiet" role="status">
        {found ? tally(found) : isLoading && 'Searching …'}
      </p>
      {found && found.orders.length > 0 && (
        <ul class={`found ${isLoading ? 'old' : ''}`} aria-label="Orders found">
          {found.orders.map((order) => (
            <li key={order.order_id}>
              <FoundLine order={order} sales={sales.value} onOpen={keep} />
            </li>
          ))}
        </ul>
      )}
      {found?.next && (
        <p>
          <button type="button" disabled={isLoading} onClick={() => void more()}>
            More
          </button>
        </p>
      )}
    </>
  )
}

/** The search's answer. A call ends the one before it: it would take a connection, of which a browser opens six. */
function useFound(query: string) {
  const state = useSignal<{ found?: Found; error?: unknown; isLoading: boolean }>({ isLoading: true })
  const asked = useRef<AbortController | null>(null)
  const ask = async (after?: string) => {
    asked.current?.abort()
    const call = new AbortController()
    asked.current = call
    const params = new URLSearchParams({ q: '' })
    for (const [name, value] of new URLSearchParams(query))
      if (name === 'q' || FILTERS.some((one) => one === name)) params.set(name, value)
    if (after !== undefined) params.set('after', after)
    const before = state.value.found
    state.value = { ...(before && { found: before }), isLoading: true }
    const answer = await get<Found>(`/admin/orders?${params}`, call.signal).then(
      (found) => ({
        found: after === undefined ? found : { ...found, orders: [...(before?.orders ?? []), ...found.orders] },
      }),
      (error: unknown) => ({ ...(before && { found: before }), error }),
    )
    if (call === asked.current) state.value = { ...answer, isLoading: false }
  }
  useEffect(() => {
    void ask()
    return () => {
      asked.current?.abort()
      asked.current = null
    }
  }, [query])
  const { found, error, isLoading } = state.value
  return { found, error, isLoading, more: () => ask(found?.next ?? undefined) }
}

function tally({ orders, next }: Found): string {
  if (orders.length === 0)
    return 'No order found. One typing error in a mail or a note is forgiven; a filter may be in the way.'
  const shown = `${orders.length} ${orders.length === 1 ? 'order' : 'orders'}`
  return next === null ? shown : `${shown} shown, there are more`
}

function FoundLine({ order, sales, onOpen }: { order: FoundOrder; sales: readonly SaleChoice[]; onOpen: () => void }) {
  const { order_id, sale, product_id, quantity, status, visitor, email, ticket_number, total_minor, currency } = order
  const known = sales.find((one) => one.sale === sale)
  const product = known?.products.find((one) => one.product_id === product_id)?.name ?? product_id
  return (
    <Link href={`/console/orders/${order_id}`} onClick={onOpen}>
      <span class={`phase ${status}`}>{status}</span>
      <span class="who">
        <b>{email ?? accountOf(visitor) ?? visitor}</b>
        <small>
          {order_id.slice(0, 8)}…{order_id.slice(-6)}, ticket {ticket_number}
        </small>
      </span>
      <span class="what">
        {quantity > 1 && `${quantity} × `}
        {product}
        <small>{known?.name ?? sale}</small>
      </span>
      <span class="amount">{money('en', total_minor, currency)}</span>
      <time dateTime={order.created_at}>{moment(order.created_at)}</time>
    </Link>
  )
}

function Choice({
  name,
  value,
  options,
  onChoose,
}: {
  name: string
  value: string
  options: readonly (readonly [string, string])[]
  onChoose: (value: string) => void
}) {
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">All</option>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
