/**
 * The orders of all sales or of one: views with their counts, a search while the operator types, filters as chips, and a
 * bar for the chosen ones. The address contains the search and its filters, so Back and a shared link work.
 */
import './orders.css'
import { useSignal } from '@preact/signals'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useEffect, useRef } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter-preact'
import type { OrderCounts } from '../../../../../shared/api/operators/answers.ts'
import { admin, read } from '../../api.ts'
import { count, textIn } from '../../format.ts'
import { Confirm, Failure, Loading, useTitle } from '../../parts.tsx'
import { Icon, Keys } from '../../sheet/icon.tsx'
import { EmptyState, Head } from '../../sheet/page.tsx'
import { say } from '../../toast.tsx'
import { BulkBar } from './bulk.tsx'
import { Filters } from './filters.tsx'
import { forgetSearches, forgetView, keepSearch, keepView, ownViews, recentSearches } from './kept.ts'
import { OrderTable } from './order-table.tsx'
import {
  countIn,
  FILTERS,
  filtersIn,
  isShown,
  ordersIn,
  type Search,
  type Show,
  timesOf,
  VIEWS,
} from './order-views.ts'

/** The first key searches at once. Further keys within this time cause one search. */
const DEBOUNCE_MS = 60
const PAGE = 50

export function OrdersPage() {
  const [, navigate] = useLocation()
  const params = new URLSearchParams(useSearch())
  const search: Search = Object.fromEntries([...params].filter(([name]) => name === 'q' || isFilter(name)))
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useOrders(search)
  const { data: counts } = useCounts(search)
  const found = data?.pages.flatMap(({ orders }) => orders)

  useTitle('Orders · Console')
  // What is out of sight is not chosen.
  useEffect(() => {
    chosen.value = new Set()
  }, [params.toString()])

  const show: Show = (changes, replace = false) => {
    const next = new URLSearchParams(location.search)
    const before = `${next}`
    for (const [name, value] of Object.entries(changes)) {
      if (!value) next.delete(name)
      else next.set(name, value)
    }
    if (`${next}` !== before) navigate(`/console/orders${next.size > 0 ? `?${next}` : ''}`, { replace })
  }
  const isSearch = (search.q ?? '') !== ''
  const total = isSearch || !counts ? undefined : totalOf(search, counts)
  return (
    <>
      <Head title="Orders">
        <a class="btn" href={`/admin/orders/export?${exported(search)}`} download>
          <Icon name="save" />
          Export
        </a>
      </Head>
      <section class="sec" aria-label="Orders found">
        <Views search={search} filters={filtersIn(params)} counts={isSearch ? undefined : counts} onShow={show} />
        <search class="stack close">
          <TypedSearch text={search.q ?? ''} onShow={show} />
          <Filters search={search} onShow={show}>
            <span class="end small quiet" role="status">
              {found ? tally(found.length, total, hasNextPage) : isFetching && 'Searching …'}
            </span>
          </Filters>
        </search>
        <Failure error={error} />
        {!found && !error && <Loading />}
        {found?.length === 0 && <NoOrders search={search} />}
        {found && found.length > 0 && (
          <OrderTable
            orders={found}
            isOld={isFetching}
            chosen={chosen.value}
            onChoose={(ids) => (chosen.value = ids)}
            onOpen={() => keepSearch(search.q ?? '')}
          />
        )}
        {found && hasNextPage && (
          <p class="row">
            <button type="button" class="btn" disabled={isFetching} onClick={() => void fetchNextPage()}>
              Show {PAGE} more
            </button>
            <span class="small quiet">
              {count(found.length)}
              {total !== undefined && ` of ${count(total)}`}
            </span>
          </p>
        )}
        <BulkBar
          orders={(found ?? []).filter(({ order_id }) => chosen.value.has(order_id))}
          onNone={() => (chosen.value = new Set())}
        />
      </section>
    </>
  )
}

const isFilter = (name: string) => FILTERS.some((one) => one === name)

/** The filters as the API has them. */
function queryOf({ made, problem, ...filters }: Search) {
  return { ...filters, ...(problem && { problem: 'true' as const }), ...(made && timesOf(made, new Date())) }
}

const exported = (search: Search) => new URLSearchParams({ ...queryOf(search), q: search.q ?? '', format: 'csv' })

/**
 * Reads the orders that a search finds, page by page. A newer search aborts the call before it, which would keep a
 * connection busy.
 */
function useOrders(search: Search) {
  return useInfiniteQuery({
    queryKey: ['orders', search],
    queryFn: ({ signal, pageParam }) => {
      const query = { q: '', limit: String(PAGE), ...queryOf(search), ...(pageParam !== null && { after: pageParam }) }
      return read(admin.orders.$get({ query }, { init: { signal } }))
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
}

/** The counts of all views: by sale, product and time, and not by what was typed. */
function useCounts({ sale, product, made }: Search) {
  return useQuery({
    queryKey: ['orders', 'counts', sale, product, made],
    queryFn: () => {
      const query = queryOf({ ...(sale && { sale }), ...(product && { product }), ...(made && { made }) })
      return read(admin.orders.counts.$get({ query }))
    },
  })
}

function totalOf({ status = '', problem }: Search, { counts, problems }: OrderCounts): number | undefined {
  if (problem) return status === '' ? (problems ?? undefined) : undefined
  return counts === null ? undefined : ordersIn(counts, status)
}

function tally(shown: number, total: number | undefined, isMore: boolean): string {
  const orders = (many: number) => `${count(many)} ${many === 1 ? 'order' : 'orders'}`
  if (total !== undefined && total >= shown) return `${orders(total)}, the newest first`
  return isMore ? `${orders(shown)} shown, there are more` : orders(shown)
}

function NoOrders({ search }: { readonly search: Search }) {
  const isAll = Object.values(search).every((value) => !value)
  if (isAll) return <EmptyState text="Nobody has ordered anything yet." />
  return (
    <EmptyState
      text={
        search.q
          ? 'No order found. One typing error in a mail or a note is forgiven; a filter may be in the way.'
          : 'No order is in this view.'
      }
    >
      <Link class="btn" href="/console/orders">
        See all orders
      </Link>
    </EmptyState>
  )
}

interface ViewsProps {
  readonly search: Search
  readonly filters: string
  readonly counts: OrderCounts | undefined
  readonly onShow: Show
}

/** A view keeps sale, product and time; one of the operator's own sets all filters. */
function Views({ search, filters, counts, onShow }: ViewsProps) {
  const own = useSignal(ownViews())
  const current = own.value.find(({ query }) => query === filters)
  const isKnown = filters === '' || current !== undefined
  const hrefOf = (changes: Search) => {
    const next = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...search, ...changes })) if (value) next.set(name, value)
    return `/console/orders${next.size > 0 ? `?${next}` : ''}`
  }
  return (
    <div class="row">
      <nav class="seg" aria-label="Views">
        {VIEWS.map((view) => {
          const many = counts && countIn(view, counts)
          const isCurrent = !current && isShown(view, search)
          if (view.isProblem && !many && !isCurrent) return null
          return (
            <Link
              key={view.name}
              href={hrefOf({ status: view.status, problem: view.isProblem ? 'true' : '' })}
              aria-current={isCurrent ? 'page' : undefined}
            >
              {view.name}{' '}
              {many !== undefined &&
                (view.isProblem ? <span class="tag is-watch">{count(many)}</span> : <span>{count(many)}</span>)}
            </Link>
          )
        })}
        {own.value.map(({ name, query }) => (
          <Link
            key={name}
            href={`/console/orders?${query}`}
            aria-current={query === filters && !search.q ? 'page' : undefined}
          >
            {name}
          </Link>
        ))}
      </nav>
      {current && (
        <button
          type="button"
          class="btn bare"
          onClick={() => {
            forgetView(current.name)
            own.value = ownViews()
            say({
              text: `The view “${current.name}” is removed.`,
              undo: async () => {
                keepView(current)
                own.value = ownViews()
                return { text: `The view “${current.name}” is back.` }
              },
            })
          }}
        >
          <Icon name="x" />
          Remove this view
        </button>
      )}
      {!isKnown && (
        <Confirm
          action="Save this view"
          icon="plus"
          look="bare"
          effect="These filters get a name, for you and in this browser. Others get them by the address of the page."
          onConfirm={async (form) => {
            const name = textIn(form, 'name')
            keepView({ name, query: filters })
            own.value = ownViews()
            onShow({ q: '' })
            return { text: `The view “${name}” is saved.` }
          }}
        >
          <label class="label">
            Name
            <span class="field">
              <input name="name" required maxLength={40} autocomplete="off" autofocus />
            </span>
          </label>
        </Confirm>
      )}
    </div>
  )
}

/** The field keeps the typed text, while Back and a recent search write into it. */
function TypedSearch({ text, onShow }: { readonly text: string; readonly onShow: Show }) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef(0)
  const recent = useSignal(recentSearches())
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    if (field.current && timer.current === 0) field.current.value = text
  }, [text])
  const find = () => onShow({ q: field.current?.value ?? '' }, true)
  const typed = () => {
    if (timer.current === 0) find()
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      timer.current = 0
      find()
    }, DEBOUNCE_MS)
  }
  return (
    <form
      class="stack close"
      onSubmit={(event) => {
        event.preventDefault()
        keepSearch(text)
        recent.value = recentSearches()
      }}
    >
      <label class="field">
        <Icon name="search" />
        <span class="unseen">Find an order</span>
        <input
          ref={field}
          type="search"
          defaultValue={text}
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          placeholder="Mail, number, account, charge, ticket number, seat, note"
          onInput={typed}
        />
        <Keys class="wide">/</Keys>
      </label>
      {recent.value.length > 0 && (
        <p class="row small tight-row">
          <span class="quiet">Your searches</span>
          {recent.value.map((one) => (
            <button key={one} type="button" class="btn bare" onClick={() => onShow({ q: one })}>
              {one}
            </button>
          ))}
          <button
            type="button"
            class="btn bare"
            onClick={() => {
              forgetSearches()
              recent.value = []
            }}
          >
            <Icon name="x" />
            Forget them
          </button>
        </p>
      )}
    </form>
  )
}
