/**
 * The frame around every page: on a desk a column with all pages, on a laptop a rail of icons, on a phone a bar with a
 * menu.
 */

import { useQuery } from '@tanstack/preact-query'
import { useEffect, useRef } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter-preact'
import { capital } from '../../../../shared/format.ts'
import { admin, read } from '../api.ts'
import { instant } from '../format.ts'
import { environment, may, session, shop, signOut } from '../session.ts'
import { Icon, Keys } from '../sheet/icon.tsx'
import { ALL_ENTRIES, type Entry, isAt, SALE_ENTRIES, saleHref, saleIn } from './navigation.ts'
import { openPalette } from './palette.tsx'

/** Reads a sale; the side column and the page share the result. */
export const saleQuery = (sale: string) => ({
  queryKey: ['sale', sale],
  queryFn: () => read(admin.sales[':sale'].$get({ param: { sale } })),
})

/** The host of the visitors' pages, and where these pages run. */
function Brand({ isSmall = false }: { readonly isSmall?: boolean }) {
  const host = shop.value === null ? 'Console' : new URL(shop.value).host
  const name = environment.value === null ? '' : capital(environment.value)
  return (
    <p class="brand">
      <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
        <rect width="18" height="18" rx="5" fill="currentColor" />
        <path
          d="M4 12.5V9M7.3 12.5V7M10.7 12.5V5M14 12.5V8"
          stroke="var(--sheet)"
          stroke-width="1.8"
          stroke-linecap="round"
        />
      </svg>
      <span class={isSmall ? '' : 'lbl'}>
        {host}
        {name && <small class={`environment is-${environment.value}`}>{name}</small>}
      </span>
    </p>
  )
}

export function Top() {
  return (
    <header class="top">
      <button type="button" class="btn bare" popovertarget="side" aria-label="Menu">
        <Icon name="menu" />
      </button>
      <Brand isSmall />
      <button type="button" class="btn bare end" onClick={openPalette}>
        <Icon name="search" />
        <span class="unseen">Search or act</span>
      </button>
    </header>
  )
}

export function Side() {
  const [path] = useLocation()
  const search = useSearch()
  const sale = saleIn(path, search)
  const side = useRef<HTMLElement>(null)
  // A menu that was opened over a phone's page closes when it has led somewhere.
  useEffect(() => {
    if (side.current?.matches(':popover-open')) side.current.hidePopover()
  }, [path, search])
  const operator = session.value
  return (
    <aside ref={side} class="side" id="side" popover="auto" aria-label="Menu">
      <Brand />
      <button type="button" class="jump" title="Search or act" onClick={openPalette}>
        <Icon name="search" />
        <span class="lbl">Search or act</span>
        <Keys class="end">Ctrl K</Keys>
      </button>
      {sale !== undefined && <SaleEntries key={sale} sale={sale} />}
      <nav aria-label="All sales">
        <h2>All sales</h2>
        <ul>
          {ALL_ENTRIES.map((entry) => (
            <Item key={entry.href} entry={entry} href={entry.href} />
          ))}
        </ul>
      </nav>
      {operator !== null && operator !== 'unknown' && (
        <div class="me">
          <p title={`${operator.name}, ${operator.role}`}>
            <Icon name="people" />
            <span class="lbl">
              <b>{operator.name}</b>, {operator.role}
            </span>
          </p>
          <button type="button" class="btn bare" aria-label="Sign out" title="Sign out" onClick={() => void signOut()}>
            <Icon name="out" flip />
            <span class="lbl">Sign out</span>
          </button>
        </div>
      )}
    </aside>
  )
}

function SaleEntries({ sale }: { readonly sale: string }) {
  const { data } = useQuery(saleQuery(sale))
  const [path] = useLocation()
  const hasHall = data?.products.some(({ section_type }) => section_type) ?? false
  const isShown = ({ href }: Entry) => href !== '/hall' || hasHall || path.startsWith(`/console/sales/${sale}/hall`)
  return (
    <nav aria-label="This sale">
      <h2>
        {data?.name ?? sale}
        <small class="mono">{sale}</small>
        {data && <time dateTime={data.opens_at}>{instant(data.opens_at)}</time>}
      </h2>
      <ul>
        {SALE_ENTRIES.filter(isShown).map((entry) => (
          <Item key={entry.href} entry={entry} href={saleHref(sale, entry.href)} />
        ))}
        {shop.value !== null && (
          <li>
            <a href={`${shop.value}/sales/${sale}`} target="_blank" rel="noreferrer" title="Visitors’ page">
              <Icon name="ext" flip />
              <span class="lbl">Visitors’ page</span>
            </a>
          </li>
        )}
      </ul>
    </nav>
  )
}

function Item({ entry: { text, icon, role }, href }: { readonly entry: Entry; readonly href: string }) {
  const [path] = useLocation()
  const search = useSearch()
  if (role !== undefined && !may(role)) return null
  return (
    <li>
      <Link href={href} title={text} aria-current={isAt(href, path, search) ? 'page' : undefined}>
        <Icon name={icon} />
        <span class="lbl">{text}</span>
      </Link>
    </li>
  )
}
