/** Sales as the operators' routes use them: found by id, returned with their state, and published after a change. */
import type { MiddlewareHandler } from 'hono'
import * as v from 'valibot'
import { queueNamesOf } from '../../shared/api/access.ts'
import { ID_FORM, SaleId } from '../../shared/api/fields.ts'
import { problem } from '../../shared/problem.ts'
import type { Goods } from '../goods/goods.ts'
import { refuse } from '../lib/request.ts'
import type { EdgeNotifier } from '../queue/edge-notifier.ts'
import { type InspectDeps, inspectSale, type State } from './inspect-sale.ts'
import type { SaleRow } from './sale-row.ts'
import { versionOf } from './sale-version.ts'
import type { Sales } from './sales.ts'

interface AdminSalesDeps extends InspectDeps {
  readonly sales: Sales
  readonly goods: Goods
  readonly edge: Pick<EdgeNotifier, 'notify'>
}

export type VersionedState = State & { readonly version: string }

export class AdminSales {
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

  inUse(): readonly SaleRow[] {
    return this.#sales.inUse()
  }

  /** Throws for an unknown sale. */
  async find(saleId: string): Promise<SaleRow> {
    return (await this.#sales.find(saleId)) ?? refuse(problem('unknown-sale'))
  }

  /** All that an operator may set of it, and its state. Fails as the ledger does, if its goods are not in memory. */
  async inspect(sale: SaleRow): Promise<State> {
    return inspectSale(this.#deps, sale, await this.#deps.goods.of(sale))
  }

  /** The same with the version of its configuration, for those who may change it. */
  async inspectVersion(sale: SaleRow): Promise<VersionedState> {
    return { ...(await this.inspect(sale)), version: versionOf(sale, await this.#deps.goods.of(sale)) }
  }

  /** Its state, without what its pages show: for those who read it every second. */
  inspectStock(sale: SaleRow): Promise<State> {
    return inspectSale(this.#deps, sale, null)
  }

  /** Sales in use, with their states. While the ledger does not respond, as this process last knew them. */
  async list(): Promise<State[]> {
    if (this.#sales.isLedgerUnresponsive())
      return Promise.all(this.#sales.inUse().map((sale) => this.inspectStock(sale)))
    await this.#sales.refresh()
    return Promise.all(this.#sales.inUse().map((sale) => this.inspect(sale)))
  }

  /** After a change: this process and the edge learn of it at once, other origins within REFRESH_MS. */
  async publish(saleId: string): Promise<VersionedState> {
    await this.#sales.refresh()
    const sale = await this.find(saleId)
    this.#notify(sale)
    return this.inspectVersion(sale)
  }

  /** After a change that concerns all sales. */
  notifyEdge(): void {
    for (const sale of this.#sales.inUse()) this.#notify(sale)
  }

  /** Refuses calls about an unknown sale, except the PUT that creates it. */
  readonly requireSale: MiddlewareHandler = async (c, next) => {
    const saleId = c.req.param('sale')
    if (!v.is(SaleId, saleId)) refuse(problem('unknown-sale', { detail: `A sale's name has ${ID_FORM}.` }))
    // Another origin may have changed the sale a moment ago. Without the ledger, reads show what is in memory.
    if (c.req.method !== 'GET' || !this.isLedgerUnresponsive()) await this.#sales.refresh()
    if (c.req.method !== 'PUT') await this.find(saleId)
    return next()
  }

  #notify({ sale_id, lines }: SaleRow): void {
    for (const queue of queueNamesOf(sale_id, lines)) this.#deps.edge.notify(queue)
  }
}
