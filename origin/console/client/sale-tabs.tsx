/** The pages of one sale, above each of them. */
import { useEffect, useRef } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { may } from './session.ts'

const TABS = [
  ['', 'Live'],
  ['/edit', 'Edit'],
  ['/preview', 'Preview'],
  ['/scheduled', 'Scheduled'],
  ['/access', 'Rules and blocks'],
  ['/report', 'Report'],
] as const

export function SaleTabs({ sale }: { sale: string }) {
  const [path] = useLocation()
  const base = `/console/sales/${sale}`
  const shown = TABS.filter(([end]) => end !== '/edit' || may('operator'))
  const tabs = useRef<HTMLElement>(null)
  // On a phone they scroll.
  useEffect(
    () => tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }),
    [path],
  )
  return (
    <nav ref={tabs} class="tabs" aria-label="Sale">
      {shown.map(([end, text]) => (
        <Link key={end} href={base + end} aria-current={path === base + end ? 'page' : undefined}>
          {text}
        </Link>
      ))}
      <Link href={`/console/orders?sale=${sale}`}>Orders</Link>
      <Link href={`/console/audit?sale=${sale}`}>Audit</Link>
    </nav>
  )
}
