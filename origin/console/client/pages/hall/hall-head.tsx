/** The heading of the hall's pages: their name, and links to the others. */
import { Link, useLocation } from 'wouter-preact'
import { useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'

const PAGES = [
  ['', 'Hall'],
  ['/box-office', 'Box office'],
  ['/import', 'Sections and import'],
] as const

export function HallHead({ sale, end }: { sale: string; end: (typeof PAGES)[number][0] }) {
  const [path] = useLocation()
  const title = PAGES.find(([one]) => one === end)?.[1] ?? ''
  const base = `/console/sales/${sale}/hall`
  useTitle(`${title} · Console`)
  return (
    <Head title={title}>
      {may('operator') && (
        <nav class="hall-pages" aria-label="Pages of the hall">
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
export function NoSections({ sale }: { sale: string }) {
  return (
    <section class="sec" aria-label="Sections">
      <p>This sale has no sections with seats or standing places.</p>
      {may('operator') && (
        <p>
          <Link class="button" href={`/console/sales/${sale}/hall/import`}>
            Add a section
          </Link>
        </p>
      )}
    </section>
  )
}
