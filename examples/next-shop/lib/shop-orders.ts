/** The shop's own records: one row for each order. A payment provider and a carrier would be called here. */
import { randomUUID } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Hold } from '@flash-sale/client/tokens'

interface ShopOrder {
  readonly sale: string
  readonly reference: string
  readonly payment: 'authorized' | 'captured' | 'given back'
  readonly parcel: string | null
}

const TABLE = `create table if not exists orders (order_id text primary key, sale text not null,
  reference text not null, payment text not null default 'authorized', parcel text) strict`

let database: DatabaseSync | undefined
function run(sql: string, ...values: SQLInputValue[]) {
  if (!database) {
    database = new DatabaseSync(process.env.DATABASE ?? 'shop.db', { timeout: 5_000 })
    database.exec(TABLE)
  }
  return database.prepare(sql).all(...values) as unknown as readonly ShopOrder[]
}

export const findOrder = (order: string) => run('select * from orders where order_id = ?', order)[0]

/** Reserves the buyer's money once, however often they press the button. Returns the name of the payment. */
export function authorize({ sub, sale }: Hold): string {
  const reference = `pay-${randomUUID()}`
  run('insert into orders (order_id, sale, reference) values (?, ?, ?) on conflict do nothing', sub, sale, reference)
  return findOrder(sub)?.reference ?? reference
}

export const capture = (order: string) =>
  run("update orders set payment = 'captured' where order_id = ? and payment = 'authorized'", order)
export const giveBack = (order: string) => run("update orders set payment = 'given back' where order_id = ?", order)

/** Hands a paid order to the carrier, once. False if it is not one of this shop, or its money went back. */
export function ship(order: string): boolean {
  const paid = "where order_id = ? and payment = 'captured'"
  return run(`update orders set parcel = coalesce(parcel, ?) ${paid} returning *`, randomUUID(), order).length === 1
}
