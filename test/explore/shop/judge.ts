/**
 * The judge of the explored shop: a model of what was promised, which shares no code with the product. It reads what
 * each buyer and the shop were told, what the provider did, and both stores: after each step that may have changed
 * something, since some breaks heal before the end, and once all is quiet.
 */
import { type Bank, BY_HAND, returnedOf } from './bank.ts'
import type { GateWorld } from './gate-port.ts'
import type { LedgerWorld } from './ledger-port.ts'
import { type GateSeen, type LedgerSeen, type OrderSeen, readGate, readLedger } from './readings.ts'

/** A promise that was broken, and how. */
export class Broken extends Error {
  readonly promise: string
  constructor(promise: string, how: string) {
    super(`${promise}: ${how}`)
    this.promise = promise
  }
}

/** One call of a buyer, and what it was told. */
export interface Told {
  readonly buyer: string
  readonly key: string
  /** working: not answered yet; nothing: refused for good; doubt: nobody knows; reserved, promised: with an order. */
  kind: 'working' | 'nothing' | 'doubt' | 'reserved' | 'promised' | 'other order'
  order?: string
  /** The order that an earlier call with the key had been answered with before this one came, and was told "reserved". */
  readonly known: string | undefined
  /** The same of any answer: an order of another key is only remembered by the gate. */
  readonly first: string | undefined
  /** It was told to try again. */
  isPassing?: boolean
  /** It was promised an order that another key of its buyer has made. */
  isOfOtherKey?: boolean
}

const HELD = ['reserved', 'paying']
const SOLD = ['confirmed', 'fulfilled', 'refunded']
const isLive = ({ status }: OrderSeen) => HELD.includes(status) || SOLD.includes(status)
const isNote = ({ id, key }: OrderSeen) => key.endsWith(` ${id}`)

/** The changes of an order that the protocol allows. Each is an event; some events change no status. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  '': ['reserved', 'cancelled'],
  reserved: ['paying', 'expired', 'cancelled', 'confirmed'],
  paying: ['reserved', 'confirmed', 'cancelled'],
  confirmed: ['fulfilled', 'cancelled', 'refunded', 'returned'],
  fulfilled: ['refunded', 'returned'],
  refunded: ['returned'],
}
/** Findings that say that a promise was broken, or money needs a person. */
const NEVER = /^(oversold|miscounted|unreadable_intent|capture_failed|refund_failed|wrong_amount|unknown_charge)$/

export interface JudgeOptions {
  readonly sale: string
  readonly limit: number
  /** An operator may change what is for sale, which the gate learns later. */
  readonly hasOperator: boolean
  readonly ledger: Pick<LedgerWorld, 'sql' | 'changes' | 'scheduler'>
  readonly gate: Pick<GateWorld, 'client' | 'changes' | 'overtaken' | 'fences'>
  readonly bank: Bank
}

export class Judge {
  readonly #options: JudgeOptions
  readonly told: Told[] = []
  readonly #known = new Set<string>()
  readonly #wasSold = new Set<string>()
  /** True for each intent that nobody may give back. */
  #intents: ReadonlyMap<string, boolean> = new Map()
  /** Promised orders that a Redis without a replica may have lost, as `appendfsync` says. */
  readonly lost = new Set<string>()
  /** True once a call failed, a process ended, or a store lost something: then counts may drift for a while. */
  isDisturbed = false

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  /** Redis is about to lose what it has had since some moment: which intents that may concern. */
  async beforeLoss(): Promise<void> {
    for (const order of (await this.#gate()).intents.keys()) this.lost.add(order)
  }

  /** What it still has was not lost. */
  async afterLoss(): Promise<void> {
    this.isDisturbed = true
    const gate = await this.#gate()
    this.#keepIntents(gate)
    for (const order of this.#intents.keys()) this.lost.delete(order)
  }

  /** What was read last, and after which change. */
  #gateSeen: { readonly changes: number; readonly seen: GateSeen } | undefined
  #ledgerSeen: { readonly changes: number; readonly seen: LedgerSeen } | undefined

  async #gate(): Promise<GateSeen> {
    const { gate, sale } = this.#options
    const { changes } = gate
    if (this.#gateSeen?.changes !== changes) this.#gateSeen = { changes, seen: await readGate(gate.client, sale) }
    return this.#gateSeen.seen
  }

  async #ledger(): Promise<LedgerSeen> {
    const { ledger, sale } = this.#options
    const { changes } = ledger
    if (this.#ledgerSeen?.changes !== changes) this.#ledgerSeen = { changes, seen: await readLedger(ledger.sql, sale) }
    return this.#ledgerSeen.seen
  }

  #keepIntents({ intents }: Pick<GateSeen, 'intents'>): void {
    this.#intents = new Map([...intents].map(([order, { isMarked }]) => [order, isMarked]))
  }

  /** True if each call with this key was told that nothing was taken. */
  #isRefused(visitor: string, key: string): boolean {
    const calls = this.told.filter((one) => one.buyer === visitor && one.key === key)
    return calls.length > 0 && calls.every(({ kind }) => kind === 'nothing')
  }

  async look(): Promise<void> {
    // The gate first: what it has by then the ledger may have only gained since.
    const gate = await this.#gate()
    const ledger = await this.#ledger()
    this.#judgeLedger(ledger)
    this.#judgeGate(gate, ledger)
    this.#judgeAnswers(ledger)
    this.#judgeMoney(ledger)
  }

  // -- At any moment -------------------------------------------------------------------------------------------------

  #judgeLedger({ orders, products, claims, findings }: LedgerSeen): void {
    for (const order of orders) {
      const { id, status, events } = order
      const wrong = events.find((to, i) => to !== (events[i - 1] ?? '') && !ALLOWED[events[i - 1] ?? '']?.includes(to))
      if (wrong !== undefined) throw new Broken('orders change as the protocol says', `${id} is ${events.join()}`)
      if (events.at(-1) !== status) throw new Broken('each change of an order is an event', `${id} is ${status}`)
      this.#known.add(id)
      if (events.some((one) => SOLD.includes(one) || one === 'returned')) this.#wasSold.add(id)
    }
    for (const id of this.#known) if (!orders.some((order) => order.id === id)) throw new Broken('no order is lost', id)
    for (const { id, total, buffer, held, sold } of products) {
      const units = (statuses: readonly string[]) =>
        orders.reduce((sum, o) => sum + (statuses.includes(o.status) ? (o.parts[id] ?? 0) : 0), 0)
      const [unitsHeld, unitsSold] = [units(HELD), units(SOLD)]
      if (unitsHeld + unitsSold > total - buffer)
        throw new Broken('never oversold', `${unitsHeld + unitsSold} of ${total - buffer} ${id} are held or sold`)
      if (held !== unitsHeld || sold !== unitsSold)
        throw new Broken(
          'the counts are the sum of the orders',
          `${id}: ${held}+${sold}, orders ${unitsHeld}+${unitsSold}`,
        )
    }
    for (const order of orders.filter(isLive))
      for (const seat of order.seats)
        if (!claims.some((claim) => claim.seat === seat && claim.order === order.id))
          throw new Broken('a seat has one order', `seat ${seat} of ${order.id} is claimed by another, or by nobody`)
    const ofVisitors = Map.groupBy(orders.filter(isLive), ({ visitor }) => visitor)
    for (const [visitor, own] of ofVisitors) {
      const units = own.reduce((sum, order) => sum + order.units, 0)
      if (units > this.#options.limit) throw new Broken('no visitor has more than their limit', `${visitor}: ${units}`)
    }
    const wrong = findings.find((kind) => NEVER.test(kind))
    if (wrong) throw new Broken('nothing needs a person', `there is a finding "${wrong}"`)
  }

  #judgeGate({ stock, holds, intents, run }: GateSeen, { orders, products }: LedgerSeen): void {
    const isInUse = stock.run !== undefined && stock.run === run && stock.fence === undefined
    for (const intent of intents.keys())
      if (!this.#intents.has(intent) && !isInUse)
        throw new Broken('only a gate that was loaded in this run takes units', intent)
    const byId = new Map(orders.map((order) => [order.id, order]))
    for (const [intent, isMarked] of this.#intents)
      if (isMarked && !intents.has(intent) && !byId.has(intent))
        throw new Broken('a promised or taken intent ends in the ledger', intent)
    for (const [order, { visitor, key }] of intents)
      if (!byId.has(order) && this.#isRefused(visitor, key))
        throw new Broken('an answer "nothing was taken" leaves no intent', `${visitor} ${key} has ${order}`)
    this.#keepIntents({ intents })
    const unitsOf = (order: string) => byId.get(order)?.parts ?? intents.get(order)?.units
    const unknown = holds.find((hold) => unitsOf(hold) === undefined)
    if (unknown !== undefined) throw new Broken('each hold has an intent or an order', unknown)
    if (!isInUse) return
    for (const { id, total, buffer } of products) {
      const held = holds.reduce((sum, hold) => sum + (unitsOf(hold)?.[id] ?? 0), 0)
      if (Number(stock[`held ${id}`]) !== held)
        throw new Broken('the gate counts its holds', `${stock[`held ${id}`]} of ${id}, and its holds have ${held}`)
      if (this.isDisturbed || this.#options.hasOperator) continue
      const isGone = (order: OrderSeen) => SOLD.includes(order.status) && !holds.includes(order.id)
      const sold = orders.filter(isGone).reduce((sum, { parts }) => sum + (parts[id] ?? 0), 0)
      if (Number(stock[`available ${id}`]) !== total - buffer - held - sold)
        throw new Broken('without a fault the counts never drift', `${stock[`available ${id}`]} of ${id} are available`)
    }
  }

  #judgeAnswers({ orders }: LedgerSeen): void {
    const byId = new Map(orders.map((order) => [order.id, order]))
    for (const one of this.told) {
      if (one.kind !== 'reserved' || one.order === undefined) continue
      const order = byId.get(one.order)
      if (!order || isNote(order)) throw new Broken('201 is an order of the ledger', one.order)
      if (order.visitor !== one.buyer) throw new Broken('201 is an order of its buyer', one.order)
    }
    const isRemembered = !this.isDisturbed && this.#options.gate.fences === 0
    for (const { kind, known, first, order, isPassing, isOfOtherKey, key } of this.told) {
      // The promise of another call with the key, whose intent is refused at the end: see #judgeEnds.
      if (kind === 'promised' && !isOfOtherKey) continue
      const had = known ?? (isRemembered ? first : undefined)
      if (had !== undefined && (order === undefined ? kind === 'nothing' && !isPassing : order !== had))
        throw new Broken('a key is answered as it was the first time', `${key} had the order ${had}`)
    }
    for (const [key, calls] of Map.groupBy(this.told, ({ buyer, key }) => `${buyer} ${key}`)) {
      if (calls.some(({ kind }) => kind !== 'nothing' && kind !== 'other order')) continue
      const order = orders.find((o) => `${o.visitor} ${o.key}` === key)
      if (order) throw new Broken('an answer "nothing was taken" stays true', `${key} has the order ${order.id}`)
    }
  }

  #judgeMoney({ orders, refunds }: LedgerSeen): void {
    const { bank, ledger } = this.#options
    const { charges } = bank
    const byId = new Map(orders.map((order) => [order.id, order]))
    for (const charge of charges.values()) {
      if (charge.takenMinor > 0 && !this.#wasSold.has(charge.order))
        throw new Broken('money is taken for sold orders alone', `${charge.charge} of ${charge.order}`)
      if (returnedOf(charge) > charge.takenMinor)
        throw new Broken('no more is given back than was taken', charge.charge)
      const order = byId.get(charge.order)
      if (order && charge.takenMinor > order.total)
        throw new Broken('one order, one charge', `${charge.charge} took ${charge.takenMinor} of ${order.total}`)
    }
    const noted = new Set(refunds.flatMap(({ returned }) => returned))
    for (const { id, key, after } of [...charges.values()].flatMap((charge) => charge.refunds)) {
      if (key !== BY_HAND && !refunds.some((one) => one.id === key)) throw new Broken('a refund is made by its key', id)
      const unread = after.find((other) => !noted.has(other))
      if (unread !== undefined) throw new Broken('what was given back counts before more is given back', unread)
    }
    const hasntAsked = orders.find(({ id, reason }) => reason === 'payment_timeout' && !bank.asked.has(id))
    if (hasntAsked) throw new Broken('a provider that says nothing is asked before an order ends', hasntAsked.id)
    // A statement that waits for a lock has read the clock before.
    const late = orders.find((order) => order.late_ms > 0)
    if (late && !ledger.scheduler.hasWaited)
      throw new Broken('a payment begins within its hold', `${late.id}, ${late.late_ms} ms later`)
    for (const [order, own] of Map.groupBy(charges.values(), (charge) => charge.order))
      if (own.filter(({ takenMinor }) => takenMinor > 0).length > 1) throw new Broken('one order, one charge', order)
  }

  // -- While nothing is under way -------------------------------------------------------------------------------------

  /** If nothing has failed and nothing is under way, the gate knows what the ledger knows before a comparison. */
  async lookWhenIdle(): Promise<void> {
    const [gate, { orders, products }] = [await this.#gate(), await this.#ledger()]
    const { stock, holds, run, intents } = gate
    const { overtaken } = this.#options.gate
    if (overtaken > 0) throw new Broken('one rebuild goes at a time', `${overtaken} could not open the gate`)
    if (stock.run !== run || stock.fence !== undefined || intents.size > 0) return
    const open = orders.filter(({ status }) => HELD.includes(status)).map(({ id }) => id)
    for (const hold of holds) if (!open.includes(hold)) throw new Broken('without a fault the gate never drifts', hold)
    for (const { id, total, buffer, held, sold } of products)
      if (Number(stock[`available ${id}`]) !== Math.max(0, total - buffer - held - sold))
        throw new Broken('without a fault the gate never drifts', `${stock[`available ${id}`]} of ${id} are available`)
  }

  // -- Once all is quiet ---------------------------------------------------------------------------------------------

  async lookWhenQuiet(): Promise<void> {
    await this.look()
    const [gate, ledger] = [await this.#gate(), await this.#ledger()]
    this.#judgeEnds(ledger)
    this.#judgeCounts(gate, ledger)
    this.#judgeSettled(ledger)
  }

  /** Every answer ends in an order or a reason, and calls with one key name one order. */
  #judgeEnds({ orders }: LedgerSeen): void {
    const byId = new Map(orders.map((order) => [order.id, order]))
    for (const { kind, order: id, buyer, key } of this.told) {
      if (kind === 'working') throw new Broken('each call is answered', `${buyer} ${key}`)
      if (kind !== 'promised' || id === undefined) continue
      const order = byId.get(id)
      if (!order && !this.lost.has(id)) throw new Broken('202 ends in an order or a reason', id)
    }
    for (const [key, calls] of Map.groupBy(this.told, ({ buyer, key }) => `${buyer} ${key}`)) {
      const named = new Set(
        calls.flatMap((one) => (one.kind === 'other order' || one.isOfOtherKey ? [] : (one.order ?? []))),
      )
      const own = [...named].filter((id) => {
        const order = byId.get(id)
        return order && !isNote(order)
      })
      if (own.length > 1) throw new Broken('one key, one order', `${key} was told ${own.join(' and ')}`)
    }
  }

  #judgeCounts({ stock, holds, intents, run }: GateSeen, { products, orders, findings }: LedgerSeen): void {
    if (intents.size > 0) throw new Broken('each intent is recorded', [...intents.keys()].join())
    if (stock.run !== run) throw new Broken('the gate comes back into use', `its run is ${stock.run}`)
    for (const { id, total, buffer, held, sold } of products) {
      const seen = `${stock[`available ${id}`]}+${stock[`held ${id}`]}`
      const right = `${Math.max(0, total - buffer - held - sold)}+${held}`
      if (seen !== right)
        throw new Broken('gate and ledger agree', `${id}: ${seen} at the gate, ${right} in the ledger`)
    }
    const open = orders.filter(({ status }) => HELD.includes(status)).map(({ id }) => id)
    const other = holds.find((hold) => !open.includes(hold))
    if (other) throw new Broken('a hold ends with its order', other)
    if (!this.isDisturbed && findings.includes('drift'))
      throw new Broken('without a fault the counts never drift', 'the reconciler has found a drift')
  }

  /** No money without a unit, and no unit without its money. */
  #judgeSettled({ orders, open_refunds: openRefunds, jobs }: LedgerSeen): void {
    const { charges } = this.#options.bank
    const isAbandoned = (id: string) => orders.some((one) => one.id === id && one.reason === 'not_authenticated')
    if (jobs > 0) throw new Broken('every job ends', `${jobs} are left`)
    if (openRefunds > 0) throw new Broken('every refund is made', `${openRefunds} are open`)
    for (const { charge, order, status } of charges.values())
      if (status === 'authorized' || (status === 'requires_action' && isAbandoned(order)))
        throw new Broken('no charge stays open', `${charge} of ${order} is ${status}`)
    for (const order of orders) {
      if (HELD.includes(order.status)) throw new Broken('each order ends', `${order.id} is ${order.status}`)
      const own = [...charges.values()].filter((charge) => charge.order === order.id)
      const net = own.reduce((sum, charge) => sum + charge.takenMinor - returnedOf(charge), 0)
      const isSold = SOLD.includes(order.status) || order.status === 'returned'
      const owed = isSold ? order.total - order.refunded : 0
      if (net !== owed)
        throw new Broken(
          'no money without a unit, no unit without its money',
          `${order.id} is ${order.status}: ${net} of ${owed}`,
        )
    }
  }
}
