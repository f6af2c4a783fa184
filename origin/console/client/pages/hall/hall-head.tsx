/** The heading of the hall's pages: their name, and links to the others. */
import { useQuery } from '@tanstack/preact-query'
import { Link, useLocation } from 'wouter-preact'
import { saleQuery } from '../../frame/side.tsx'
import { useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Phase } from '../../sheet/marks.tsx'
import { EmptyState, Head } from '../../sheet/page.tsx'

const PAGES = [
  ['', 'Hall'],
  ['/box-office', 'Box office'],
  ['/import', 'Sections, import'],
] as const

export function HallHead({ sale, end }: { sale: string; end: (typeof PAGES)[number][0] }) {
  const [path] = useLocation()
  const { data } = useQuery(saleQuery(sale))
  const title = PAGES.find(([one]) => one === end)?.[1] ?? ''
  const base = `/console/sales/${sale}/hall`
  useTitle(`${title} · Console`)
  return (
    <Head
      title={title}
      sub={
        data && (
          <>
            <span>{data.venue ?? data.name}</span>
            <Phase phase={data.phase} />
          </>
        )
      }
    >
      {may('operator') && (
        <nav class="seg" aria-label="Pages of the hall">
          {PAGES.map(([one, text]) => (
            <Link key={one} href={base + one} aria-current={path === base + one ? 'page' : undefined}>
              {text}
            </Link>
          ))}
        </nav>
      )}
    </Head>
  )
}

/** The page of a hall that has no sections yet. */
export const NoSections = ({ sale }: { sale: string }) => (
  <EmptyState text="This sale has no sections with seats or standing places.">
    {may('operator') && (
      <Link class="btn" href={`/console/sales/${sale}/hall/import`}>
        Add a section
      </Link>
    )}
  </EmptyState>
)
