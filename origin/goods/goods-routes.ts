/** Serves the goods of a sale to the edge, which reads each version once. The route is mounted below `/internal`. */
import { Hono } from 'hono'
import { problem } from '../../shared/problem.ts'
import { refuse } from '../lib/http/request.ts'
import type { Sales } from '../sales/sales.ts'
import type { Goods } from './goods.ts'

interface GoodsRoutesDeps {
  readonly sales: Pick<Sales, 'find' | 'refresh'>
  readonly goods: Goods
}

export const goodsDocumentRoutes = ({ sales, goods }: GoodsRoutesDeps): Hono =>
  new Hono().get('/sales/:sale/goods', async (c) => {
    const saleId = c.req.param('sale')
    const version = Number(c.req.query('v'))
    const find = async () => (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
    let sale = await find()
    // The version may have been written a moment ago by another process.
    if (sale.goods_version !== version) {
      await sales.refresh()
      sale = await find()
    }
    const found = await goods.of(sale)
    if (found?.version !== version) refuse(problem('not-found', { detail: 'The goods have another version now.' }))
    return c.json(found)
  })
