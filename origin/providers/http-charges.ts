/**
 * The charges that a shop's payment server was asked for, in the ledger. A row is written before the first call, and
 * asked about until the shop has said a final state, so that no lost answer, lost webhook or ended process leaves a
 * charge that nobody knows of.
 */
import { assertExists } from '../../shared/lib/assert.ts'
import type { Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'
import type { AskedCharge } from './http-answers.ts'

/** Charges in one statement, and those that wait. */
const BATCH = { size: 200, queue: 20_000 }
/** A charge without a final state is asked about after so long; the pause doubles each time. */
const FIRST_CHECK_SECONDS = 60
const MAX_CHECK_SECONDS = 900
/** After so long the shop is asked no more by itself. It may still say it by a webhook. */
const CHECKED_HOURS = 24

/** A charge with the name that the shop gave it first. */
export type NotedCharge = AskedCharge & { readonly reference: string | null }

/** What the shop said of a charge. */
interface Said {
  readonly charge: string
  readonly reference: string | null
  readonly isFinal: boolean
}

export class HttpCharges {
  readonly #sql: Sql
  readonly #asked: Batcher<AskedCharge, NotedCharge>
  readonly #found: Batcher<string, NotedCharge | undefined>
  readonly #said: Batcher<Said, string | null>

  constructor(sql: Sql) {
    this.#sql = sql
    this.#asked = new Batcher(BATCH, (charges) => this.#insert(charges))
    this.#found = new Batcher(BATCH, (charges) => this.#find(charges))
    this.#said = new Batcher(BATCH, (said) => this.#note(said))
  }

  /** Notes a charge before the shop is asked for it. A repeated one is as it was noted first. */
  ask = (charge: AskedCharge) => this.#asked.add(charge)

  find = (charge: string) => this.#found.add(charge)

  /** Notes what the shop said. Returns the reference that it said first. */
  said = (said: Said) => this.#said.add(said)

  /** The charges of an order, the latest first. */
  ofOrder = (order: string) => this.#sql<NotedCharge[]>`
    select ${this.#columns} from shop_charges where order_id = ${order} order by attempt desc`

  /** A charge that it is time to ask about; undefined if there is none. The next caller gets another one. */
  async takeOpen(): Promise<NotedCharge | undefined> {
    const sql = this.#sql
    const [open] = await sql<NotedCharge[]>`
      update shop_charges set checks = checks + 1,
        next_check_at = case when asked_at > now() - ${CHECKED_HOURS} * interval '1 hour' then clock_timestamp()
          + least(${FIRST_CHECK_SECONDS} * 2 ^ least(checks, 10), ${MAX_CHECK_SECONDS}) * interval '1 second' end
      where charge_id = (
        select charge_id from shop_charges where next_check_at < now()
        order by next_check_at limit 1 for update skip locked)
      returning ${this.#columns}`
    return open
  }

  async #insert(charges: readonly AskedCharge[]): Promise<NotedCharge[]> {
    const rows = new Map(charges.map((one) => [one.charge, one]))
    const all = [...rows.values()]
    await this.#sql`
      insert into shop_charges (charge_id, order_id, attempt, amount_minor, currency, next_check_at)
      select *, clock_timestamp() + ${FIRST_CHECK_SECONDS} * interval '1 second'
      from unnest(${all.map((one) => one.charge)}::text[], ${all.map((one) => one.order)}::uuid[],
        ${all.map((one) => one.attempt)}::int[], ${all.map((one) => one.amountMinor)}::bigint[],
        ${all.map((one) => one.currency)}::text[])
      on conflict do nothing`
    const found = await this.#find(charges.map((one) => one.charge))
    return found.map((one) => assertExists(one, 'A charge that was noted is found.'))
  }

  async #find(charges: readonly string[]): Promise<(NotedCharge | undefined)[]> {
    const rows = await this.#sql<NotedCharge[]>`
      select ${this.#columns} from shop_charges where charge_id = any(${[...charges]}::text[])`
    const byId = new Map(rows.map((row) => [row.charge, row]))
    return charges.map((charge) => byId.get(charge))
  }

  async #note(said: readonly Said[]): Promise<(string | null)[]> {
    // Several answers about a charge are noted as one: each of them may be the one that makes it final.
    const names = new Map(said.map(({ charge }) => [charge, null as string | null]))
    for (const { charge, reference } of said) names.set(charge, names.get(charge) ?? reference)
    const final = said.filter(({ isFinal }) => isFinal).map(({ charge }) => charge)
    const rows = await this.#sql<{ charge: string; reference: string | null }[]>`
      with said as (
        select * from unnest(${[...names.keys()]}::text[], ${[...names.values()]}::text[]) as s (charge_id, reference)),
      -- Locked in order, since the response and the webhook arrive together.
      locked as (
        select charge_id from shop_charges where charge_id in (select charge_id from said)
        order by charge_id for no key update)
      update shop_charges c set reference = coalesce(c.reference, s.reference),
        next_check_at = case when c.charge_id <> all(${final}::text[]) then c.next_check_at end
      from said s join locked using (charge_id) where c.charge_id = s.charge_id
      returning c.charge_id as charge, c.reference`
    const references = new Map(rows.map((row) => [row.charge, row.reference]))
    return said.map(({ charge }) => references.get(charge) ?? null)
  }

  get #columns() {
    return this.#sql`charge_id as charge, order_id as "order", attempt, amount_minor::float8 as "amountMinor", currency,
      reference`
  }
}
