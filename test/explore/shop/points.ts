/**
 * The named points of the explored program: the calls that leave its processes, by what they do. Each is reached in
 * ten thousand orders, or its reason stands here.
 */

/** The first pattern that matches a statement names it. */
const STATEMENTS: readonly (readonly [RegExp, string])[] = [
  [/record_carts\(/, 'records carts in the ledger'],
  [/record_reservations\(/, 'records reservations in the ledger'],
  [/^with paying as/, 'begins payments in the ledger'],
  [/^with confirmed as/, 'confirms paid orders in the ledger'],
  [/advance_orders\(/, 'moves orders in the ledger'],
  [/return_lines\(/, 'takes lines out of an order in the ledger'],
  [/now_ms, \(select coalesce/, 'reads the sales'],
  [/from unnest\(.*k\(sale, visitor, key, i\)/, 'looks up keys in the ledger'],
  [/left_ms, \(select name from products/, 'reads orders'],
  [/^select distinct sale_id, product_id from orders/, 'reads which products have overdue holds'],
  [/^select order_id from orders where sale_id = \? and product_id/, 'reads overdue holds'],
  [/^select sale_id, order_id, payment_method from orders/, 'reads payments to begin'],
  [/^with rooms as/, 'takes jobs'],
  [/^with ended as materialized/, 'ends jobs'],
  [/^insert into jobs/, 'adds jobs'],
  [/^update orders set action/, 'marks an abandoned charge'],
  [/action_until < now\(\)/, 'reads abandoned charges'],
  [/^update orders set updated_at/, 'touches forgotten payments'],
  [/^with paid as/, 'notes the cards'],
  [/^with made as/, 'marks captures as made'],
  [/^insert into captures as c/, 'notes money as taken'],
  [/^delete from captures/, 'drops open captures'],
  [/from captures where charge_id = any\(\?::text\[\]\) and captured_at is null/, 'reads open captures'],
  [/from captures/, 'reads captures'],
  [/^insert into refunds/, 'inserts refunds'],
  [/^update refunds/, 'marks refunds'],
  [/^delete from refunds/, 'deletes refunds'],
  [/^update (captures|refunds)|update \?/, 'touches the outbox'],
  [/from refunds/, 'reads refunds'],
  [/comparisons/, 'reads or writes the cursor of the provider'],
  [/pg_try_advisory_xact_lock/, 'takes the lock of a rebuild'],
  [/^select set_config/, 'sets a limit of the transaction'],
  [/^declare restored/, 'opens the orders of a sale'],
  [/^fetch /, 'reads the orders of a sale'],
  [/as missing, \(/, 'reads the ledger beside the gate'],
  [/json_build_object\('held', uses\.held/, 'counts the uses of codes'],
  [/json_build_object\('held', coalesce\(sum\(units\)/, 'counts the orders of a product'],
  [/from seat_claims|blocked/, 'reads the seats'],
  [/^select .* from products where sale_id = \?/, 'reads the counters'],
  [/^update products set total = total - 1/, 'takes units away'],
  [/^update products set total = \? where/, 'adds units'],
  [/^update products set total/, 'sets the counters'],
  [/^select 1 from products .* for no key update/, 'locks products'],
  [/^select \* from orders where order_id = any.* for no key update/, 'locks orders'],
  [/^select 1 from sales .* for no key update/, 'locks a sale'],
  [/findings/, 'writes or reads findings'],
  [/audit_log/, 'writes the audit log'],
  [/resume_holds/, 'lets the holds go on'],
  [/hold_pauses/, 'stops the clock of holds'],
  [/promo_codes/, 'reads promo codes'],
  [/^select distinct visitor from orders/, 'reads the buyers of a sale'],
  [/^with latest as/, 'locks the latest orders'],
  [/^select from sales where sale_id = \? for no key update/, 'locks a sale'],
  [/^select to_jsonb\(s\)/, 'reads the terms of a sale'],
  [/^update sales set ended_at/, 'ends a sale'],
  [/^update sales set published_phase/, 'notes the phase of a sale'],
  [/^insert into events/, 'writes events of a sale'],
  [/^select total, ended_at/, 'locks a product'],
  [/charts|seats/, 'reads the hall'],
]

export function statementPoint(text: string): string {
  return STATEMENTS.find(([pattern]) => pattern.test(text))?.[1] ?? `statement ${text.slice(0, 60)}`
}

/** The calls that change nothing in their store. */
export const READS =
  /^(reads|looks up|searches|counts|asks|finds|sets a limit|opens the orders|takes the lock|locks|waits)/

const COMMANDS: Readonly<Record<string, string>> = {
  reserveUnits: 'reserves at the gate',
  rememberKey: 'remembers a key at the gate',
  adoptOrder: 'has the gate adopt an order',
  settleHolds: 'ends holds at the gate',
  markIntents: 'marks intents',
  readStock: 'reads the stock of the gate',
  readGateBuffer: 'reads the whole gate',
  restoreOrders: 'restores orders at the gate',
  blockSeats: 'blocks seats at the gate',
  changeSeats: 'changes seats at the gate',
  learnUnpaid: 'has the gate learn of unpaid orders',
  unfenceGate: 'opens the gate',
  clockMs: "reads Redis's clock",
  dueHolds: 'reads due holds at the gate',
  'del hset unlink': 'fences the gate',
  hgetall: 'reads the notes of a fenced gate',
  hscan: 'reads intents',
  hmget: 'searches intents',
  mget: 'searches notes of recorded intents',
  hdel: 'removes recorded intents',
  hlen: 'counts intents',
  hget: 'looks up a key at the gate',
  'exists info': 'asks Redis for a replica',
  'set wait': 'waits for the replica',
  zadd: 'postpones holds at the gate',
  publish: 'publishes changes of orders',
  getBuffer: 'reads the seats of the gate',
}

export function commandPoint(commands: string): string {
  if (/^set.* hdel$/.test(commands)) return 'removes intents and notes them'
  if (/^pexpire/.test(commands)) return 'extends the life of the gate'
  return COMMANDS[commands] ?? `command ${commands}`
}

/** What no order of events reaches, and why. */
export const UNREACHED: Readonly<Record<string, string>> = {
  'takes lines out of an order in the ledger': 'nobody cancels a part of an order',
  'lets the holds go on': 'the clock of holds is never stopped',
  'stops the clock of holds': 'the notes of who reaches the ledger end by the real clock of Redis',
  'locks the latest orders': 'a sale would have to be oversold',
  'sets the counters': 'the counters would have to be wrong',
  'deletes refunds': 'no refund fails once it was made',
  'has the gate learn of unpaid orders': 'nobody waits for stock, so that nobody comes first',
  'blocks seats at the gate': 'no seat is out of sale',
  'changes seats at the gate': 'no operator moves seats',
}

/** What is to be reached: the other names above, and those of the provider. */
export const POINTS: ReadonlySet<string> = new Set(
  [
    ...STATEMENTS.map(([, name]) => name),
    ...Object.values(COMMANDS),
    'removes intents and notes them',
    'extends the life of the gate',
    'commits',
    'authorizes at the provider',
    'reads a charge at the provider',
    'captures at the provider',
    'cancels at the provider',
    'reads returns at the provider',
    'refunds at the provider',
    'finds a charge at the provider',
    'reads changes at the provider',
  ].filter((point) => !(point in UNREACHED)),
)
