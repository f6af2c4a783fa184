/** The operators' calls for who may join: the rules of a sale, and who is blocked in all of them. */
import { Hono } from 'hono'
import { ACCOUNT_PREFIX, BlockConfig, RuleChange, RuleConfig } from '../../shared/api/access.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder } from '../ledger/orders.ts'
import { operatorOf, readBody, refuse } from '../lib/request.ts'
import type { Orders } from '../orders/orders.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import { addBlock, addRule, type Block, changeRule, readBlocks, removeBlock, removeRule } from './access-queries.ts'
import { type Blocks, visitorIn } from './blocks.ts'

interface RuleDeps {
  readonly sql: Sql
  readonly find: (saleId: string) => Promise<SaleRow>
  /** Has this process and the edge learn of a change. */
  readonly changed: (saleId: string) => Promise<unknown>
}

/** Below `/admin/sales/{sale}/rules`. */
export function ruleRoutes({ sql, find, changed }: RuleDeps): Hono {
  const app = new Hono()
  const saleOf = (c: { req: { param(name: string): string | undefined } }) => c.req.param('sale') ?? ''
  const ruleOf = async (saleId: string, rule: string) =>
    (await find(saleId)).rules.find((one) => one.rule === rule) ?? refuse(problem('not-found', { detail: NO_RULE }))

  app.get('/', async (c) => c.json({ rules: (await find(saleOf(c))).rules }))
  app.post('/', async (c) => {
    const rule = await addRule(sql, saleOf(c), await readBody(c, RuleConfig), operatorOf(c))
    await changed(saleOf(c))
    return c.json(await ruleOf(saleOf(c), rule), 201)
  })
  app.patch('/:rule', async (c) => {
    const { rule } = c.req.param()
    const was = await ruleOf(saleOf(c), rule)
    const { when = was.when, action = was.action, note = was.note } = await readBody(c, RuleChange)
    await changeRule(sql, saleOf(c), rule, { when, action, note }, operatorOf(c))
    await changed(saleOf(c))
    return c.json(await ruleOf(saleOf(c), rule))
  })
  app.delete('/:rule', async (c) => {
    const isRemoved = await removeRule(sql, saleOf(c), c.req.param('rule'), operatorOf(c))
    if (!isRemoved) refuse(problem('not-found', { detail: NO_RULE }))
    await changed(saleOf(c))
    return c.body(null, 204)
  })
  return app
}

const NO_RULE = 'The sale has no such rule.'

interface BlockDeps {
  readonly sql: Sql
  readonly blocks: Pick<Blocks, 'refresh'>
  readonly orders: Pick<Orders, 'takeFrom'>
  readonly saleIds: () => readonly string[]
  /** Has the edge learn of a change. */
  readonly changed: () => void
}

/** Below `/admin/blocks`. */
export function blockRoutes({ sql, blocks, orders, saleIds, changed }: BlockDeps): Hono {
  const app = new Hono()
  const publish = async () => {
    await blocks.refresh()
    changed()
  }
  app.get('/', async (c) => c.json({ blocks: (await readBlocks(sql)).map(describeBlock) }))
  app.post('/', async (c) => {
    const { order, ...wanted } = await readBody(c, BlockConfig)
    const block = await addBlock(
      sql,
      order === undefined ? wanted : { ...wanted, ...(await holderOf(order)) },
      operatorOf(c),
    )
    await publish()
    // First refused, so that nobody reserves again what is taken from them.
    const visitor = visitorIn(block)
    if (visitor !== null) await orders.takeFrom(visitor, saleIds(), operatorOf(c))
    return c.json(describeBlock(block), 201)
  })
  async function holderOf(order: string) {
    const { visitor } = (await findOrder(sql, order)) ?? refuse(problem('unknown-order'))
    return visitor.startsWith(ACCOUNT_PREFIX) ? { account: visitor.slice(ACCOUNT_PREFIX.length) } : { visitor }
  }
  app.delete('/:block', async (c) => {
    if (!(await removeBlock(sql, c.req.param('block'), operatorOf(c))))
      refuse(problem('not-found', { detail: 'There is no such block.' }))
    await publish()
    return c.body(null, 204)
  })
  return app
}

function describeBlock({ block_id, visitor, account, address, note, blocked_at }: Block) {
  const who = visitor === null ? (account === null ? { address } : { account }) : { visitor }
  return { block: String(block_id), ...who, note, blocked_at: blocked_at.toISOString() }
}
