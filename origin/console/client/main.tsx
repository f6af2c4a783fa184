/** The console's entry: chooses the page for an address, and draws the frame around it. */
import './look/look.css'
import { QueryClientProvider } from '@tanstack/preact-query'
import { type ComponentChild, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Link, Route, Switch, useLocation } from 'wouter-preact'
import { listen } from './frame/keys.ts'
import { openPalette, Palette } from './frame/palette.tsx'
import { SaleFrame } from './frame/sale-frame.tsx'
import { Side, Top } from './frame/side.tsx'
import { SignedOut, SignInPage } from './frame/sign-in.tsx'
import { AccessPage } from './pages/access/access-page.tsx'
import { AuditPage } from './pages/audit/audit-page.tsx'
import { AnnounceButtons } from './pages/feed/announce.tsx'
import { FeedPage } from './pages/feed/feed-page.tsx'
import { FindingsPage } from './pages/findings/findings-page.tsx'
import { BoxOfficePage } from './pages/hall/box-office-page.tsx'
import { HallPage } from './pages/hall/hall-page.tsx'
import { ImportPage } from './pages/hall/import-page.tsx'
import { InvitationsPage } from './pages/invitations/invitations-page.tsx'
import { OperatorsPage } from './pages/operators/operators-page.tsx'
import { OrderPage } from './pages/order/order-page.tsx'
import { OrdersPage } from './pages/orders/orders-page.tsx'
import { PreviewPage } from './pages/preview/preview-page.tsx'
import { PromoCodesPage } from './pages/promo-codes/promo-codes-page.tsx'
import { QueuesPage } from './pages/queues/queues-page.tsx'
import { ReportPage } from './pages/report/report-page.tsx'
import type { NoticeControl } from './pages/sale/controls.tsx'
import { SalePage } from './pages/sale/sale-page.tsx'
import { EditSalePage, GoodsPage, NewSalePage } from './pages/sale-form/sale-form-page.tsx'
import { ScheduledPage } from './pages/scheduled/scheduled-page.tsx'
import { SynonymsPage } from './pages/search/synonyms-page.tsx'
import { VisitorsPage } from './pages/visitors/visitors-page.tsx'
import { WebhooksPage } from './pages/webhooks/webhooks-page.tsx'
import { Failure, Loading } from './parts.tsx'
import { SalesPage } from './sales-page.tsx'
import { queries, readSession, session } from './session.ts'
import { Head } from './sheet/page.tsx'
import { Toast } from './toast.tsx'

/** What features offer to change what visitors of a sale read. */
const NOTICES: readonly NoticeControl[] = [AnnounceButtons]

/** The pages of a sale: the end of the address, and the page. */
const SALE_PAGES = [
  ['', ({ sale }) => <SalePage sale={sale} notices={NOTICES} />],
  ['/visitors', VisitorsPage],
  ['/edit', EditSalePage],
  ['/goods', GoodsPage],
  ['/promo-codes', PromoCodesPage],
  ['/preview', PreviewPage],
  ['/feed', FeedPage],
  ['/scheduled', ScheduledPage],
  ['/access', AccessPage],
  ['/invitations', InvitationsPage],
  ['/hall', HallPage],
  ['/hall/box-office', BoxOfficePage],
  ['/hall/import', ImportPage],
  ['/report', ReportPage],
] as const satisfies readonly (readonly [end: string, Page: (props: { sale: string }) => ComponentChild])[]

function Console() {
  const operator = session.value
  const [, navigate] = useLocation()
  useEffect(() => listen({ openPalette, navigate }), [navigate])
  if (operator === 'unknown') return <Loading />
  if (operator === null) return <SignInPage />
  return (
    <div class="frame">
      <a class="skip btn" href="#main">
        To the page
      </a>
      <Top />
      <Side />
      <main class="sheet" id="main" tabIndex={-1}>
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
                <SaleFrame key={sale} sale={sale}>
                  <Page sale={sale} />
                </SaleFrame>
              )}
            </Route>
          ))}
          <Route path="/console/queues">
            <QueuesPage />
          </Route>
          <Route path="/console/orders">
            <OrdersPage />
          </Route>
          <Route path="/console/orders/:order">{({ order }) => <OrderPage key={order} order={order} />}</Route>
          <Route path="/console/search">
            <SynonymsPage />
          </Route>
          <Route path="/console/webhooks">
            <WebhooksPage />
          </Route>
          <Route path="/console/findings">
            <FindingsPage />
          </Route>
          <Route path="/console/audit">
            <AuditPage />
          </Route>
          <Route path="/console/operators">
            <OperatorsPage />
          </Route>
          <Route>
            <Head title="There is nothing here" />
            <div class="empty">
              <Link class="btn" href="/console">
                All sales
              </Link>
            </div>
          </Route>
        </Switch>
      </main>
      <Palette />
      <Toast />
      <SignedOut />
    </div>
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
