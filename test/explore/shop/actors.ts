/**
 * The actors of an explored order of events: buyers, workers, an operator, and what happens to the stores and to time.
 * Each is a line of data, so that an order of events can be written down, and made shorter.
 */

import type { Outcome } from '../../../origin/checkout/outcome.ts'
import { requestRefund } from '../../../origin/payments/refunds.ts'
import { restock } from '../../../origin/sales/restock.ts'
import { switches } from '../../../origin/sales/sale-queries.ts'
import { returnUnits } from '../../../origin/support/return-units.ts'
import type { CheckoutRequest } from '../../../shared/api/public.ts'
import type { Method } from './bank.ts'
import type { Judge, Told } from './judge.ts'
import type { LedgerWorld } from './ledger-port.ts'
import type { Member, Members, Round, World } from './members.ts'

/** inTurn: it begins once the one before it that has its turn has ended, as in a story. */
export type Actor = Acting & { readonly inTurn?: true }

type Acting =
  | {
      readonly does: 'buys'
      readonly name: string
      readonly key: string
      readonly at: string
      readonly wants: Wants
      readonly units: number
      /** Sent with the checkout; null: it is paid afterwards, if at all. */
      readonly method: Method | null
      readonly after: 'leaves' | 'pays' | 'gives back'
      /** A page asks again with the same key so often, where it may. */
      readonly tries: 1 | 3
    }
  | { readonly does: 'works'; readonly round: Round; readonly at: string }
  | { readonly does: 'operates'; readonly what: Operation; readonly at: string }
  | { readonly does: 'happens'; readonly what: Event }
  | { readonly does: 'waits'; readonly ms: number }

/** What a buyer puts into the cart: units of a product, of two, of one with a code, places, or a seat by name. */
export type Wants = 'one' | 'both' | 'with a code' | 'a seat' | 'a choice of seats'
export type Operation =
  | 'restocks'
  | 'takes a unit away'
  | 'takes a unit away unheard'
  | 'gives money back by hand'
  | 'ends the sale'
  | 'cancels an order'
  | 'refunds an order'
  | 'refunds a part'
  | 'refunds an order with its units'
  | 'puts refunded units on sale'
  | 'hands an order over'
  | 'rebuilds the gate'
export type Event =
  | 'the ledger has a unit less'
  | 'Redis is emptied'
  | 'Redis restarts'
  | 'the moment is kept'
  | 'Redis is put back'
  | 'a replica takes over'
  | 'Redis goes away'
  | 'Redis comes back'
  | 'Postgres goes away'
  | 'Postgres comes back'
  | `${'api' | 'worker'} ${1 | 2} ends`

export interface Stage extends World {
  readonly sale: string
  readonly members: Members
  readonly judge: Judge
}

export const nameOf = (actor: Actor): string => {
  switch (actor.does) {
    case 'buys':
      return `${actor.name} (key ${actor.key}, at ${actor.at})`
    case 'waits':
      return 'time'
    case 'happens':
      return 'the world'
    default:
      return actor.does === 'works' ? actor.at : 'the operator'
  }
}

export const sentenceOf = (actor: Actor): string => {
  switch (actor.does) {
    case 'buys': {
      const { units, wants, method, after } = actor
      return `checks out ${units} of ${wants}${method ? `, to pay with "${method}"` : ''}, then ${after}`
    }
    case 'works':
      return actor.round
    case 'waits':
      return `${actor.ms} ms pass`
    default:
      return actor.what
  }
}

/** Puts actors on the stage, who begin whenever it is their turn. */
export function enterAll(stage: Stage, actors: readonly Actor[]): void {
  let before: Promise<void> | undefined
  for (const actor of actors) {
    if (!actor.inTurn) void enter(stage, actor)
    else before = before ? before.then(() => enter(stage, actor)) : enter(stage, actor)
  }
}

/** Resolves once the actor has ended. */
export function enter(stage: Stage, actor: Actor): Promise<void> {
  const { scheduler } = stage
  const [name, what] = [nameOf(actor), sentenceOf(actor)]
  const { promise, resolve } = Promise.withResolvers<void>()
  const now = (work: () => Promise<void>) => {
    const go = () => work().finally(resolve)
    scheduler.add({ owner: undefined, name, what, fates: ['done'], go })
  }
  if (actor.does === 'waits') now(() => scheduler.moveTime(actor.ms, false))
  else if (actor.does === 'happens') now(() => happen(stage, actor.what))
  else scheduler.actor(what, () => act(stage, actor).finally(resolve), name)
  return promise
}

async function act(stage: Stage, actor: Exclude<Actor, { does: 'waits' | 'happens' }>): Promise<void> {
  switch (actor.does) {
    case 'buys':
      return buy(stage, actor)
    case 'works': {
      const member = await stage.members.of(actor.at)
      await member.process.ask(() => member.rounds[actor.round]().catch(() => {}))
      return
    }
    case 'operates':
      return operate(stage, actor.what, await stage.members.of(actor.at))
  }
}

// -- Buyers --------------------------------------------------------------------------------------------------------

async function buy(stage: Stage, actor: Extract<Actor, { does: 'buys' }>): Promise<void> {
  const { members, judge } = stage
  const { name, key, at, after, tries } = actor
  for (let attempt = 1; attempt <= tries; attempt++) {
    const earlier = judge.told.filter((one) => one.buyer === name && one.key === key && one.order !== undefined)
    const known = earlier.find(({ kind }) => kind === 'reserved')?.order
    const told: Told = { buyer: name, key, kind: 'working', known, first: earlier[0]?.order }
    judge.told.push(told)
    const member = await members.of(attempt === 1 ? at : otherOf(at))
    // What is thrown is answered with a 503, which says nothing.
    const outcome = await member.process.ask(() => checkout(stage, member, actor).catch(() => undefined))
    hear(told, outcome)
    if (outcome?.kind === 'recorded' && !outcome.replayed && outcome.order.payment_method)
      member.orders.beginPayment(outcome.order)
    if (told.kind === 'doubt') continue
    if (told.kind === 'nothing' && told.isPassing) continue
    if (told.order === undefined || told.kind === 'other order') return
    if (after === 'leaves' || actor.method) return
    return settle(stage, actor, told.order)
  }
}

const otherOf = (at: string) => (at === 'api 1' ? 'api 2' : 'api 1')

async function checkout(
  { sale }: Stage,
  { sales, checkout }: Member,
  { name, key, units, wants, method }: Extract<Actor, { does: 'buys' }>,
): Promise<Outcome> {
  const row = await sales.find(sale)
  if (!row) throw new Error('the sale is gone')
  return checkout.checkout(row, { visitor: name, line: 'public', number: 1 }, requestOf(wants, units, method), key)
}

function requestOf(wants: Wants, units: number, method: Method | null): CheckoutRequest {
  const payment = method && { payment_method: method }
  switch (wants) {
    case 'one':
      return { product_id: 'one', quantity: units, ...payment }
    case 'both':
      return {
        lines: [
          { product_id: 'one', quantity: units },
          { product_id: 'two', quantity: 1 },
        ],
        ...payment,
      }
    case 'with a code':
      return { product_id: 'one', quantity: units, promo_code: 'TEN', ...payment }
    case 'a seat':
      return { lines: [{ section_id: 'stalls', seats: [`S${units}`] }], ...payment }
    case 'a choice of seats':
      return { lines: [{ section_id: 'stalls', quantity: units }], ...payment }
  }
}

const DOUBT = /^(It is not known|Orders cannot be read)/

/** Notes what a buyer was told. Without an answer nothing was. */
function hear(told: Told, outcome: Outcome | undefined): void {
  if (!outcome) told.kind = 'doubt'
  else if (outcome.kind === 'problem') {
    told.kind = DOUBT.test(outcome.problem.detail ?? '') ? 'doubt' : 'nothing'
    told.isPassing = outcome.problem.type === '/problems/try-again'
  } else {
    const isOwn = outcome.kind !== 'live'
    told.kind = !isOwn ? 'other order' : outcome.kind === 'processing' ? 'promised' : 'reserved'
    told.order = 'reservation' in outcome ? outcome.reservation.order : outcome.order.order_id
    told.isOfOtherKey = 'reservation' in outcome && outcome.reservation.key !== told.key
  }
}

/** Pays, by a card that works, or gives back. */
async function settle(
  { members, sale }: Stage,
  { at, after }: Extract<Actor, { does: 'buys' }>,
  order: string,
): Promise<void> {
  const { process, orders } = await members.of(at)
  const work = after === 'pays' ? () => orders.pay(sale, order, 'ok') : () => orders.giveBack(order)
  await process.ask(() => Promise.resolve(work()).catch(() => undefined))
}

// -- The operator --------------------------------------------------------------------------------------------------

async function operate(stage: Stage, what: Operation, member: Member): Promise<void> {
  const { sale, judge, bank } = stage
  const { sql, orders, reconciler, process } = member
  const latest = async (...statuses: string[]): Promise<string | undefined> => {
    const rows = stage.ledger.sql<{ order_id: string }[]>`
      select order_id from orders where sale_id = ${sale} and status = any(${statuses}::text[])
      order by created_at, order_id limit 1`
    const [row] = await stage.scheduler.busy(Promise.resolve(rows))
    return row?.order_id
  }
  const refund = async (restock: boolean, amount?: number) => {
    const order = await latest('confirmed', 'fulfilled', 'refunded')
    if (!order) return
    const request = { reason: 'asked', restock, ...(amount !== undefined && { amount_minor: amount }) }
    const { isRestocked } = await requestRefund(sql, order, request as never, { operator: 'op', key: null })
    if (isRestocked) await reconciler.unitsReturned([{ sale_id: sale }])
  }
  const takeUnit = () => oneLess(sql, sale)
  const work = async () => {
    switch (what) {
      case 'restocks':
        await restock(sql, sale, 'one', { quantity: 1, key: null, max: 100 })
        return reconciler.reconcileSale(sale, { force: true })
      case 'takes a unit away unheard':
        // The process ends before it tells the gate.
        judge.isDisturbed = true
        return takeUnit()
      case 'gives money back by hand':
        return bank.refundByHand()
      case 'takes a unit away':
        await takeUnit()
        return reconciler.reconcileSale(sale, { force: true })
      case 'ends the sale':
        return switches.end(sql, sale)
      case 'cancels an order': {
        const order = await latest('reserved', 'paying', 'confirmed')
        if (!order) return
        const result = await orders.cancelByShop(order, { operator: 'op' })
        if (result?.wasSold) await reconciler.unitsReturned([result.order])
        return
      }
      case 'refunds an order':
        return refund(false)
      case 'refunds a part':
        return refund(false, 100)
      case 'refunds an order with its units':
        return refund(true)
      case 'puts refunded units on sale': {
        const order = await latest('refunded')
        if (!order) return
        await returnUnits(sql, order, {}, 'op')
        return reconciler.unitsReturned([{ sale_id: sale }])
      }
      case 'hands an order over': {
        const order = await latest('confirmed')
        return order && orders.fulfil(order, 'op')
      }
      case 'rebuilds the gate':
        return reconciler.reconcileSale(sale, { force: true })
    }
  }
  await process.ask(() => Promise.resolve(work()).catch(() => undefined))
}

const oneLess = (sql: LedgerWorld['sql'], sale: string) => sql`
  update products set total = total - 1
  where sale_id = ${sale} and product_id = 'one' and held + sold < total - buffer`

// -- What happens to the stores ------------------------------------------------------------------------------------

async function happen({ gate, ledger, judge, members, scheduler, sale }: Stage, what: Event): Promise<void> {
  const losing = async (work: () => Promise<void>) => {
    await judge.beforeLoss()
    await work()
    await judge.afterLoss()
  }
  switch (what) {
    case 'the ledger has a unit less':
      // The gate has not heard of it. While a transaction has locked the product it does not happen.
      judge.isDisturbed = true
      await scheduler.busy(
        Promise.resolve(ledger.sql`
          update products p set total = p.total - 1
          from (select from products where sale_id = ${sale} and product_id = 'one' for update skip locked) free
          where p.sale_id = ${sale} and p.product_id = 'one' and p.held + p.sold < p.total - p.buffer`),
      )
      ledger.changes++
      return
    case 'Redis is emptied':
      return losing(() => gate.empty(scheduler.nowMs))
    case 'Redis restarts':
      judge.isDisturbed = true
      return gate.restart()
    case 'the moment is kept':
      return gate.hasReplica ? undefined : gate.copy()
    case 'Redis is put back':
      return gate.hasReplica ? undefined : losing(() => gate.putBack(scheduler.nowMs))
    case 'a replica takes over':
      // What was promised is on the replica: none of it may be lost.
      if (!gate.hasReplica) return
      judge.isDisturbed = true
      await gate.putBack(scheduler.nowMs)
      return judge.afterLoss()
    case 'Redis goes away':
    case 'Redis comes back':
      judge.isDisturbed = true
      gate.isAway = what === 'Redis goes away'
      return
    case 'Postgres goes away':
    case 'Postgres comes back':
      judge.isDisturbed = true
      ledger.isAway = what === 'Postgres goes away'
      return
    default: {
      judge.isDisturbed = true
      const name = what.slice(0, what.indexOf(' ends'))
      members
        .alive()
        .find(({ process }) => process.name === name)
        ?.process.end()
    }
  }
}
