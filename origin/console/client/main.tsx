/** The console's entry: chooses the page for an address, and draws the frame around it. */
import './style.css'
import { QueryClientProvider } from '@tanstack/preact-query'
import { type ComponentChild, render } from 'preact'
import { Link, Route, Switch, useLocation } from 'wouter-preact'
import { AccessPage } from './pages/access/access-page.tsx'
import { AuditPage } from './pages/audit/audit-page.tsx'
import { AnnounceButtons } from './pages/feed/announce.tsx'
import { FeedPage } from './pages/feed/feed-page.tsx'
import { BoxOfficePage } from './pages/hall/box-office-page.tsx'
import { HallPage } from './pages/hall/hall-page.tsx'
import { ImportPage } from './pages/hall/import-page.tsx'
import { InvitationsPage } from './pages/invitations/invitations-page.tsx'
import { OperatorsPage } from './pages/operators/operators-page.tsx'
import { OrderPage } from './pages/orders/order-page.tsx'
import { SearchPage } from './pages/orders/search-page.tsx'
import { PreviewPage } from './pages/preview/preview-page.tsx'
import { PromoCodesPage } from './pages/promo-codes/promo-codes-page.tsx'
import { ReportPage } from './pages/report/report-page.tsx'
import type { NoticeControl } from './pages/sale/controls.tsx'
import { SalePage } from './pages/sale/sale-page.tsx'
import { EditSalePage, GoodsPage, NewSalePage } from './pages/sale-form/sale-form-page.tsx'
import { QueuesPage } from './pages/scheduled/queues-page.tsx'
import { ScheduledPage } from './pages/scheduled/scheduled-page.tsx'
import { SynonymsPage } from './pages/search/synonyms-page.tsx'
import { WebhooksPage } from './pages/webhooks/webhooks-page.tsx'
import { Failure, Loading } from './parts.tsx'
import { SaleFrame, type Tab } from './sale-frame.tsx'
import { SalesPage } from './sales-page.tsx'
import { may, queries, readSession, session, signOut } from './session.ts'
import { SignInPage } from './sign-in-page.tsx'
import { Toast } from './toast.tsx'

/** What features offer to change what visitors of a sale read. */
const NOTICES: readonly NoticeControl[] = [AnnounceButtons]

type SalePages = readonly (readonly [end: string, Page: (props: { sale: string }) => ComponentChild, tab?: string])[]

/** The pages of a sale: the end of the address, the page, and its tab. */
const SALE_PAGES = [
  ['', ({ sale }) => <SalePage sale={sale} notices={NOTICES} />, 'Live'],
  ['/edit', EditSalePage, 'Edit'],
  ['/goods', GoodsPage, 'Goods'],
  ['/promo-codes', PromoCodesPage, 'Promo codes'],
  ['/preview', PreviewPage, 'Preview'],
  ['/feed', FeedPage, 'Feed'],
  ['/scheduled', ScheduledPage, 'Scheduled'],
  ['/access', AccessPage, 'Rules and blocks'],
  ['/invitations', InvitationsPage, 'Invitations'],
  ['/hall', HallPage, 'Hall'],
  ['/hall/box-office', BoxOfficePage],
  ['/hall/import', ImportPage],
  ['/report', ReportPage, 'Report'],
] as const satisfies SalePages
const TABS = (SALE_PAGES as SalePages).flatMap(([end, , tab]): Tab[] => (tab === undefined ? [] : [[end, tab]]))

function Console() {
  const operator = session.value
  if (operator === 'unknown') return <Loading />
  if (operator === null) return <SignInPage />
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Bar name={operator.name} role={operator.role} />
      <main id="main">
        <Switch>
          <Route path="/console">
            <SalesPage />
          </Route>
          <Route path="/console/sales/new">
            <NewSalePage />
          </Route>
          {SALE_PAGES.map(([end, Page]) => (
            <Route key={end} path={`/console/sales/:sale${end}`}>
              {({ sale }) => (
                <SaleFrame key={sale} sale={sale} tabs={TABS}>
                  <Page sale={sale} />
                </SaleFrame>
              )}
            </Route>
          ))}
          <Route path="/console/queues">
            <QueuesPage />
          </Route>
          <Route path="/console/orders">
            <SearchPage />
          </Route>
          <Route path="/console/orders/:order">{({ order }) => <OrderPage key={order} order={order} />}</Route>
          <Route path="/console/search">
            <SynonymsPage />
          </Route>
          <Route path="/console/webhooks">
            <WebhooksPage />
          </Route>
          <Route path="/console/audit">
            <AuditPage />
          </Route>
          <Route path="/console/operators">
            <OperatorsPage />
          </Route>
          <Route>
            <h1>There is nothing here</h1>
            <p>
              <Link href="/console">All sales</Link>
            </p>
          </Route>
        </Switch>
      </main>
      <Toast />
    </>
  )
}

function Bar({ name, role }: { name: string; role: string }) {
  const [path] = useLocation()
  const links = [
    ['/console', 'Sales'],
    ['/console/orders', 'Orders'],
    ['/console/queues', 'Queues'],
    ['/console/search', 'Search'],
    ['/console/webhooks', 'Webhooks'],
    ['/console/audit', 'Audit'],
    ...(may('owner') ? [['/console/operators', 'Operators'] as const] : []),
  ] as const
  const isIn = (href: string) =>
    href === '/console' ? path === href || path.startsWith('/console/sales') : path.startsWith(href)
  return (
    <header class="bar">
      <nav aria-label="Console">
        {links.map(([href, text]) => (
          <Link key={href} href={href} aria-current={isIn(href) ? 'page' : undefined}>
            {text}
          </Link>
        ))}
      </nav>
      <p>
        <span title={`role: ${role}`}>{name}</span>
        <button type="button" class="link" onClick={() => void signOut()}>
          Sign out
        </button>
      </p>
    </header>
  )
}

const root = document.getElementById('console')
if (root) {
  const app = (
    <QueryClientProvider client={queries}>
      <Console />
    </QueryClientProvider>
  )
  render(app, root)
  readSession().catch((error) => render(<Failure error={error} />, root))
}
