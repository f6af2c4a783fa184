/** Sales and orders for stories in the console. */
import { randomUUID } from 'node:crypto'
import { beforeAll } from 'vitest'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import type { RunSystem } from '../run/one-system.ts'
import { sharedPart } from '../run/shared-part.ts'
import { admin } from './operator.ts'
import { createSale } from './origin-process.ts'
import { saleOf } from './samples.ts'
import { admitted, visitorsOf } from './visitor.ts'

export const PRODUCT = { product_id: 'red', name: 'Red', unit_price_minor: 2500, currency: 'EUR', total: 50, buffer: 0 }
export const BLUE = { ...PRODUCT, product_id: 'blue', name: 'Blue' }

export function useConsoleStories() {
  let system: RunSystem
  beforeAll(async () => {
    system = await sharedPart('system')
  })
  return {
    system: () => system,
    consoleUrl: () => `${system.originUrl}/console`,

    operator: <T = Record<string, unknown>>(method: string, path: string, body?: object) =>
      admin<T>(system, method, path, body),

    /** Creates an open sale for the story, whose name ends in its id. */
    async newSale(changes: Partial<SaleConfig> = {}) {
      const sale = `console-${randomUUID().slice(0, 8)}`
      const name = `Friday drop ${sale}`
      const admission = { rate_per_second: 10, max_inside: null }
      await createSale(system, sale, { ...saleOf(0, { name, products: [PRODUCT, BLUE], admission }), ...changes })
      return { sale, name }
    },

    /** A visitor joins, checks out and pays. */
    async buy(sale: string, email: string, lines?: readonly object[]): Promise<string> {
      const body = { payment_method: 'pm_ok', contact: { email }, ...(lines && { lines }) }
      const { checkout } = visitorsOf(system.edgeUrl, sale)
      return (await checkout(await admitted(system.edgeUrl, sale), body)).body.order_id
    },
  }
}
