/** Previews of a sale's pages, which the edge makes: links to the pages, and a page of an unsaved draft. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { LANGUAGES } from '../../shared/api/fields.ts'
import type { SaleDraft } from '../../shared/api/internal.ts'
import { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { previewQuery } from '../../shared/preview-link.ts'
import { problem } from '../../shared/problem.ts'
import type { Config } from '../base/config.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { jsonBody, query, refuse } from '../lib/http/request.ts'
import { goodsOf } from '../sales/goods-queries.ts'
import { unitsOf } from '../sales/sale-queries.ts'
import { publicProducts } from '../sales/sale-state.ts'
import type { AdminSales } from './admin-sales.ts'
import { MAX_SALE_BYTES } from './sale-routes.ts'

/** A link works for an hour, which is longer than a preview is usually open. */
const LASTS_MS = 3_600_000
const TIMEOUT_MS = 3_000
/** A whole page may take this long. */
const PAGE_TIMEOUT_MS = 10_000

const Query = v.object({
  from: v.pipe(
    v.string('the scheme and host of the console is required'),
    v.check(
      // A URL's host may contain a `;`, after which a content security policy would read another directive.
      (text) => URL.canParse(text) && new URL(text).origin === text && /^[a-z]+:\/\/[\w.:[\]-]+$/.test(text),
      'a scheme and host such as https://console.example is required',
    ),
  ),
})
const States = v.object({ states: v.array(v.string()) })

const DraftPage = v.object({
  sale: SaleConfig,
  state: v.pipe(v.string('text is required'), v.regex(/^[a-z0-9-]{1,64}$/, 'the name of a state is required')),
  lang: v.optional(v.picklist(LANGUAGES, `one of ${LANGUAGES.join(', ')} is required`), 'en'),
  look: v.optional(v.picklist(['light', 'dark'], 'light or dark is required'), 'light'),
})

interface PreviewDeps {
  readonly config: Pick<Config, 'EDGE_TOKEN' | 'EDGE_URL' | 'PUBLIC_URL'>
  readonly sales: Pick<AdminSales, 'nowMs' | 'inUse'>
}

/** The public address of the edge, and the one that this origin uses; undefined if neither is set. */
const addressesOf = ({ PUBLIC_URL, EDGE_URL }: PreviewDeps['config']) => {
  const shop = PUBLIC_URL ?? EDGE_URL
  return { shop, edge: EDGE_URL ?? shop }
}
const noEdge = () => problem('conflict', { detail: 'EDGE_URL is not set: the edge makes the pages.' })
const noWorker = () =>
  problem('conflict', { detail: 'The edge has no preview Worker: docs/deploying.md says how to add it.' })
const noAnswer = () => problem('try-again', { detail: 'The edge does not answer.', retry_after_seconds: 3 })

export function previewRoutes({ config, sales }: PreviewDeps) {
  const { shop, edge } = addressesOf(config)
  return (
    new Hono()
      // The address of the pages for an hour, which the requesting origin may frame, and the names of their states.
      .get('/sales/:sale/preview', query(Query), async (c) => {
        const sale = c.req.param('sale')
        const { from } = c.req.valid('query')
        if (shop === undefined) return refuse(noEdge())
        const expiresMs = Math.floor(sales.nowMs()) + LASTS_MS
        const signed = new URLSearchParams(previewQuery(config.EDGE_TOKEN, { sale, expiresMs, from }))
        const states = await statesAt(`${edge}/sales/${sale}/preview?${signed}`)
        if (states === 'no preview Worker') return refuse(noWorker())
        if (!states) return refuse(noAnswer())
        return c.json({ url: `${shop}/sales/${sale}/preview`, query: String(signed), states })
      })
  )
}

/** The route of a draft, for a sale that may not exist yet. */
export function draftRoutes({ config, sales }: PreviewDeps) {
  const { shop, edge } = addressesOf(config)
  return (
    new Hono()
      // Returns one page with the unsaved changes, which the console shows in a frame.
      .post('/sales/:sale/preview', jsonBody(DraftPage, MAX_SALE_BYTES), async (c) => {
        const { sale, state, ...query } = c.req.valid('json')
        if (shop === undefined) return refuse(noEdge())
        const id = c.req.param('sale')
        const saved = sales.inUse().find(({ sale_id }) => sale_id === id)
        const url = `${edge}/internal/sales/${encodeURIComponent(id)}/preview/${state}?${new URLSearchParams(query)}`
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${config.EDGE_TOKEN}`, 'content-type': 'application/json' },
          body: JSON.stringify(draftOf(sale, saved)),
          signal: AbortSignal.timeout(PAGE_TIMEOUT_MS),
        }).catch(() => null)
        if (response?.status === 404) return refuse(problem('not-found', { detail: 'There is no page of this name.' }))
        if (response?.status === 409) return refuse(noWorker())
        if (!response?.ok) return refuse(noAnswer())
        // Relative paths of the page would lead to the console, so pictures get the shop's address.
        return c.html((await response.text()).replace(PICTURE, `$1${shop}$2`), 200, { 'cache-control': 'no-store' })
      })
  )
}

/** The path of a picture in an attribute, or of one width in a list. */
const PICTURE = /(["\s])(\/images\/[0-9a-f]{32})/g

/** The draft as everyone would see it. The sections of a hall are the saved ones, because other calls write them. */
function draftOf(config: SaleConfig, saved: SaleRow | undefined): SaleDraft {
  const { name, hold_seconds, limit_per_visitor, seller, tax, fees, delivery, payment, test, mails } = config
  const sections = saved ? publicProducts(saved).filter(({ section_type }) => section_type !== null) : []
  const units = unitsOf(config).map(({ total, buffer, limit_per_visitor: limit, ...unit }) => ({
    ...unit,
    limit,
    section_type: null,
    total: total - buffer,
    available: total - buffer,
  }))
  const sale = {
    name,
    hold_seconds,
    limit_per_visitor,
    seller,
    tax,
    fees,
    delivery,
    payment,
    test,
    mails,
    products: [...units, ...sections],
  }
  return { sale, goods: { version: 0, ...goodsOf(config) } }
}

/** The names of the states; undefined if the edge does not respond. */
async function statesAt(url: string): Promise<readonly string[] | 'no preview Worker' | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (response.status === 409) return 'no preview Worker'
    return v.parse(States, await response.json()).states
  } catch {
    return undefined
  }
}
