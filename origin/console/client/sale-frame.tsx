/**
 * The frame around the pages of one sale: its name, details that distinguish sales of the same name, and its tabs. It
 * also says if there is no such sale.
 */
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { ApiError, admin, read } from './api.ts'
import { instant, useTitle } from './parts.tsx'
import { may, shop } from './session.ts'

/** The end of a page's address, and the text of its tab. */
export type Tab = readonly [end: string, text: string]

interface Frame {
  readonly sale: string
  readonly tabs: readonly Tab[]
  readonly children: ComponentChildren
}

export function SaleFrame({ sale, tabs, children }: Frame) {
  const { data, error } = useQuery({
    queryKey: ['sale', sale],
    queryFn: () => read(admin.sales[':sale'].$get({ param: { sale } })),
  })
  if (error instanceof ApiError && error.problem.status === 404) return <NoSale sale={sale} />
  return (
    <>
      <header class="sale-head">
        <p class="badges">
          <Link href="/console">Sales</Link>
          <span>
            <b>{data?.name}</b> <code>{sale}</code>
          </span>
          {data && (
            <time class="quiet" dateTime={data.opens_at}>
              {instant(data.opens_at)}
            </time>
          )}
          {shop.value !== null && (
            <a href={`${shop.value}/sales/${sale}`} target="_blank" rel="noreferrer">
              Visitors’ page
            </a>
          )}
        </p>
        <Tabs sale={sale} all={tabs} hasHall={data?.products.some(({ section_type }) => section_type) ?? false} />
      </header>
      {children}
    </>
  )
}

function NoSale({ sale }: { sale: string }) {
  useTitle('No such sale · Console')
  return (
    <>
      <h1>
        There is no sale <code>{sale}</code>
      </h1>
      <p>
        <Link href="/console">See all sales</Link>
      </p>
    </>
  )
}

function Tabs({ sale, all, hasHall }: { sale: string; all: readonly Tab[]; hasHall: boolean }) {
  const [path] = useLocation()
  const base = `/console/sales/${sale}`
  const isAt = (end: string) => path === base + end || (end === '/hall' && path.startsWith(`${base}/hall/`))
  const isShown = (end: string) =>
    end === '/edit' || end === '/goods' ? may('operator') : end !== '/hall' || hasHall || isAt(end)
  const shown = all.filter(([end]) => isShown(end))
  const tabs = useRef<HTMLElement>(null)
  // On a phone the tabs scroll, so the current one is scrolled into view.
  useEffect(
    () => tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }),
    [path],
  )
  return (
    <nav ref={tabs} class="tabs" aria-label="Sale">
      {shown.map(([end, text]) => (
        <Link key={end} href={base + end} aria-current={isAt(end) ? 'page' : undefined}>
          {text}
        </Link>
      ))}
      <Link href={`/console/orders?sale=${sale}`}>Orders</Link>
      <Link href={`/console/audit?sale=${sale}`}>Audit</Link>
    </nav>
  )
}
