/** The operators' calls for access: the rules of a sale, and the blocks of all sales. */
import { Hono } from 'hono'
import { ACCOUNT_PREFIX, BlockConfig, RuleChange, RuleConfig } from '../../shared/api/access.ts'
import type { BlockState, Rule } from '../../shared/api/operators/answers.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder } from '../ledger/order-statements.ts'
import { jsonBody, refuse } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { Orders } from '../orders/orders.ts'
import type { OperatedSales } from '../sales/sales.ts'
import { addBlock, addRule, type Block, changeRule, readBlocks, removeBlock, removeRule } from './access-queries.ts'
import { type Blocks, subjectOf, visitorIn } from './blocks.ts'

interface RuleDeps {
  readonly sql: Sql
  readonly sales: Pick<OperatedSales, 'find' | 'publish'>
}

export function ruleRoutes({ sql, sales }: RuleDeps) {
  const ruleOf = async (saleId: string, rule: string): Promise<Rule> =>
    (await sales.find(saleId)).rules.find((one) => one.rule === rule) ??
    refuse(problem('not-found', { detail: NO_RULE }))

  return new Hono()
    .get('/sales/:sale/rules', async (c) => c.json({ rules: (await sales.find(c.req.param('sale'))).rules }))

    .post('/sales/:sale/rules', jsonBody(RuleConfig), async (c) => {
      const saleId = c.req.param('sale')
      const rule = await addRule(sql, saleId, c.req.valid('json'), operatorOf(c))
      await sales.publish(saleId)
      return c.json(await ruleOf(saleId, rule), 201)
    })

    .patch('/sales/:sale/rules/:rule', jsonBody(RuleChange), async (c) => {
      const { sale: saleId, rule } = c.req.param()
      const before = await ruleOf(saleId, rule)
      const { when = before.when, action = before.action, note = before.note } = c.req.valid('json')
      await changeRule(sql, saleId, rule, { when, action, note }, operatorOf(c))
      await sales.publish(saleId)
      return c.json(await ruleOf(saleId, rule))
    })

    .delete('/sales/:sale/rules/:rule', async (c) => {
      const { sale: saleId, rule } = c.req.param()
      const isRemoved = await removeRule(sql, saleId, rule, operatorOf(c))
      if (!isRemoved) refuse(problem('not-found', { detail: NO_RULE }))
      await sales.publish(saleId)
      return c.body(null, 204)
    })
}

const NO_RULE = 'The sale has no such rule.'

interface BlockDeps {
  readonly sql: Sql
  readonly blocks: Pick<Blocks, 'refresh'>
  readonly orders: Pick<Orders, 'takeFrom'>
  readonly sales: Pick<OperatedSales, 'inUse' | 'notifyEdge'>
}

export function blockRoutes({ sql, blocks, orders, sales }: BlockDeps) {
  const publish = async () => {
    await blocks.refresh()
    sales.notifyEdge()
  }
  async function buyerOf(orderId: string) {
    const { visitor } = (await findOrder(sql, orderId)) ?? refuse(problem('unknown-order'))
    return visitor.startsWith(ACCOUNT_PREFIX) ? { account: visitor.slice(ACCOUNT_PREFIX.length) } : { visitor }
  }

  return new Hono()
    .get('/blocks', async (c) => c.json({ blocks: (await readBlocks(sql)).map(toJson) }))

    .post('/blocks', jsonBody(BlockConfig), async (c) => {
      const { order, ...requested } = c.req.valid('json')
      const buyer = order === undefined ? {} : await buyerOf(order)
      const block = await addBlock(sql, { ...requested, ...buyer }, operatorOf(c))
      await publish()
      // The block applies before the orders are cancelled, so that the visitor cannot reserve the units again.
      const visitor = visitorIn(block)
      const saleIds = sales.inUse().map(({ sale_id }) => sale_id)
      if (visitor !== null) await orders.takeFrom(visitor, saleIds, operatorOf(c))
      return c.json(toJson(block), 201)
    })

    .delete('/blocks/:block', async (c) => {
      if (!(await removeBlock(sql, c.req.param('block'), operatorOf(c))))
        refuse(problem('not-found', { detail: 'There is no such block.' }))
      await publish()
      return c.body(null, 204)
    })
}

const toJson = ({ block_id, note, blocked_at, ...block }: Block): BlockState => ({
  block: String(block_id),
  ...subjectOf(block),
  note,
  blocked_at: blocked_at.toISOString(),
})
