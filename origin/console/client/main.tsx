/** The console's entry: chooses the page for an address, and draws the frame around it. */
import './look/look.css'
import { QueryClientProvider } from '@tanstack/preact-query'
import { type ComponentChild, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Link, Route, Switch, useLocation } from 'wouter-preact'
import { listen } from './frame/keys.ts'
import { lazily } from './frame/lazily.tsx'
import { openPalette, Palette } from './frame/palette.tsx'
import { SaleFrame } from './frame/sale-frame.tsx'
import { Side, Top } from './frame/side.tsx'
import { SignedOut, SignInPage } from './frame/sign-in.tsx'
import { AnnounceButtons } from './pages/feed/announce.tsx'
import type { NoticeControl } from './pages/sale/controls.tsx'
import { Failure, Loading } from './parts.tsx'
import { SalesPage } from './sales-page.tsx'
import { findSession, queries, session, unreadSession } from './session.ts'
import { Head } from './sheet/page.tsx'
import { Toast } from './toast.tsx'

// Each page's script is loaded when the page is first shown.
const AccessPage = lazily(() => import('./pages/access/access-page.tsx').then(({ AccessPage }) => AccessPage))
const AuditPage = lazily(() => import('./pages/audit/audit-page.tsx').then(({ AuditPage }) => AuditPage))
const FeedPage = lazily(() => import('./pages/feed/feed-page.tsx').then(({ FeedPage }) => FeedPage))
const FindingsPage = lazily(() => import('./pages/findings/findings-page.tsx').then(({ FindingsPage }) => FindingsPage))
const BoxOfficePage = lazily(() =>
  import('./pages/hall/box-office-page.tsx').then(({ BoxOfficePage }) => BoxOfficePage),
)
const HallPage = lazily(() => import('./pages/hall/hall-page.tsx').then(({ HallPage }) => HallPage))
const ImportPage = lazily(() => import('./pages/hall/import-page.tsx').then(({ ImportPage }) => ImportPage))
const InvitationsPage = lazily(() =>
  import('./pages/invitations/invitations-page.tsx').then(({ InvitationsPage }) => InvitationsPage),
)
const OperatorsPage = lazily(() =>
  import('./pages/operators/operators-page.tsx').then(({ OperatorsPage }) => OperatorsPage),
)
const OrderPage = lazily(() => import('./pages/order/order-page.tsx').then(({ OrderPage }) => OrderPage))
const OrdersPage = lazily(() => import('./pages/orders/orders-page.tsx').then(({ OrdersPage }) => OrdersPage))
const PreviewPage = lazily(() => import('./pages/preview/preview-page.tsx').then(({ PreviewPage }) => PreviewPage))
const PromoCodesPage = lazily(() =>
  import('./pages/promo-codes/promo-codes-page.tsx').then(({ PromoCodesPage }) => PromoCodesPage),
)
const QueuesPage = lazily(() => import('./pages/queues/queues-page.tsx').then(({ QueuesPage }) => QueuesPage))
const ReportPage = lazily(() => import('./pages/report/report-page.tsx').then(({ ReportPage }) => ReportPage))
const SalePage = lazily(() => import('./pages/sale/sale-page.tsx').then(({ SalePage }) => SalePage))
const EditSalePage = lazily(() =>
  import('./pages/sale-form/sale-form-page.tsx').then(({ EditSalePage }) => EditSalePage),
)
const GoodsPage = lazily(() => import('./pages/sale-form/sale-form-page.tsx').then(({ GoodsPage }) => GoodsPage))
const NewSalePage = lazily(() => import('./pages/sale-form/sale-form-page.tsx').then(({ NewSalePage }) => NewSalePage))
const ScheduledPage = lazily(() =>
  import('./pages/scheduled/scheduled-page.tsx').then(({ ScheduledPage }) => ScheduledPage),
)
const SynonymsPage = lazily(() => import('./pages/search/synonyms-page.tsx').then(({ SynonymsPage }) => SynonymsPage))
const VisitorsPage = lazily(() => import('./pages/visitors/visitors-page.tsx').then(({ VisitorsPage }) => VisitorsPage))
const WebhooksPage = lazily(() => import('./pages/webhooks/webhooks-page.tsx').then(({ WebhooksPage }) => WebhooksPage))

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
  if (operator === 'unknown') return unreadSession.value ? <Failure error={unreadSession.value} /> : <Loading />
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
  void findSession()
}
