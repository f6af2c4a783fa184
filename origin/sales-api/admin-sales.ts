/**
 * Sales for the operators' routes, which find them by id, return them with their state, and publish them after a
 * change.
 */
import type { MiddlewareHandler } from 'hono'
import * as v from 'valibot'
import { queueNamesOf } from '../../shared/api/access.ts'
import { ID_FORM, SaleId } from '../../shared/api/fields.ts'
import { problem } from '../../shared/problem.ts'
import type { Goods } from '../goods/goods.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { refuse } from '../lib/http/request.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { EdgeNotifier } from '../queue/edge-notifier.ts'
import { phaseOf } from '../sales/sale-state.ts'
import { versionOf } from '../sales/sale-version.ts'
import { LEDGER_TIMEOUT_MS, type OperatedSales, type Sales } from '../sales/sales.ts'
import { type InspectDeps, inspectSale, type State } from './inspect-sale.ts'

interface AdminSalesDeps extends InspectDeps {
  readonly sales: Sales
  readonly goods: Goods
  readonly edge: Pick<EdgeNotifier, 'notify'>
}

const SELLING: readonly ReturnType<typeof phaseOf>[] = ['open', 'paused', 'all_in_carts']
const UNCOMPARED: InspectDeps['reconciler'] = { agrees: () => Promise.resolve(null) }

export type VersionedState = State & { readonly version: string }

export class AdminSales implements OperatedSales {
  readonly #deps: AdminSalesDeps
  readonly #sales: Sales

  constructor(deps: AdminSalesDeps) {
    this.#deps = deps
    this.#sales = deps.sales
  }

  /** The ledger's time. */
  nowMs(): number {
    return this.#sales.nowMs()
  }

  isLedgerUnresponsive(): boolean {
    return this.#sales.isLedgerUnresponsive()
  }

  canRecord(): boolean {
    return this.#sales.canRecord()
  }

  inUse(): readonly SaleRow[] {
    return this.#sales.inUse()
  }

  /** Throws for an unknown sale. */
  async find(saleId: string): Promise<SaleRow> {
    return (await this.#sales.find(saleId)) ?? refuse(problem('unknown-sale'))
  }

  /** All settings of the sale, and its state. Fails as the ledger does if the sale's goods are not in memory. */
  async inspect(sale: SaleRow): Promise<State> {
    return inspectSale(this.#deps, sale, await this.#deps.goods.of(sale))
  }

  /** The same with the version of the configuration, for callers who may change it. */
  async inspectVersion(sale: SaleRow): Promise<VersionedState> {
    return { ...(await this.inspect(sale)), version: versionOf(sale, await this.#deps.goods.of(sale)) }
  }

  /** The state without the content of the sale's pages, for clients that read it every second. */
  inspectStock(sale: SaleRow): Promise<State> {
    return inspectSale(this.#deps, sale, null)
  }

  /**
   * The sales in use with their states. While the ledger does not respond, they are as this process last read them.
   */
  async list(): Promise<State[]> {
    if (this.#sales.isLedgerUnresponsive())
      return Promise.all(this.#sales.inUse().map((sale) => this.inspectStock(sale)))
    await this.#sales.refresh()
    return Promise.all(this.#sales.inUse().map((sale) => this.#inspectListed(sale)))
  }

  /** Gate and ledger are compared of sales that sell: hundreds of others would cost a call of both stores each. */
  async #inspectListed(sale: SaleRow): Promise<State> {
    const sells = SELLING.includes(phaseOf(sale, this.nowMs()))
    const goods = await this.#deps.goods.of(sale)
    return inspectSale(sells ? this.#deps : { ...this.#deps, reconciler: UNCOMPARED }, sale, goods)
  }

  /** Publishes a change: this process and the edge read it at once, other origins within REFRESH_MS. */
  async publish(saleId: string): Promise<VersionedState> {
    await this.#sales.refresh()
    const sale = await this.find(saleId)
    this.#notify(sale)
    return this.inspectVersion(sale)
  }

  /** Publishes a noted change, without the ledger and so without the goods. */
  async publishNoted(saleId: string): Promise<State> {
    const sale = await this.find(saleId)
    this.#notify(sale)
    return this.inspectStock(sale)
  }

  /** Informs the edge of a change that concerns all sales. */
  notifyEdge(): void {
    for (const sale of this.#sales.inUse()) this.#notify(sale)
  }

  /** Refuses calls about an unknown sale, except the PUT that creates it. */
  readonly requireSale: MiddlewareHandler = async (c, next) => {
    const saleId = c.req.param('sale')
    if (!v.is(SaleId, saleId)) refuse(problem('unknown-sale', { detail: `A sale's name has ${ID_FORM}.` }))
    // The sale may have been changed by another origin a moment ago. Without the ledger, reads show what is in
    // memory, and so do the changes that can be noted; whatever else needs the ledger fails by itself.
    if (!this.isLedgerUnresponsive()) await withTimeout(this.#sales.refresh(), LEDGER_TIMEOUT_MS).catch(() => {})
    if (c.req.method !== 'PUT') await this.find(saleId)
    return next()
  }

  #notify({ sale_id, lines }: SaleRow): void {
    for (const queue of queueNamesOf(sale_id, lines)) this.#deps.edge.notify(queue)
  }
}
