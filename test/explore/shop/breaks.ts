/**
 * Breaks of the shop's protocol, each a change of the product's text, written down before any of them was tried. The
 * explorer must find every one of them: what sees it stands beside it.
 */
import type { Break } from '../breaks.ts'

const LUA = 'origin/stock/scripts'
const SQL = 'origin/ledger/functions'

export const BREAKS: Readonly<Record<string, Break>> = {
  'no fence: a gate is used in any run of the server': {
    file: `${LUA}/reserve.lua`,
    from: "if stock[1] ~= thisRun() then return { 'fenced' } end",
    to: '',
    part: 'checkout',
  },
  'no intent': {
    file: `${LUA}/reserve.lua`,
    from: "  redis.call('HSET', KEYS[5], unpack(newIntents))\n",
    to: '',
    part: 'checkout',
  },
  'the answer before the commit': {
    file: 'origin/checkout/recorder.ts',
    from: '() => warm.use(recordWith(noteRefusals), again)',
    to: '() => new Promise<RecordVerdict[]>((answer, fail) => warm.use((sql) => sql.begin(async (tx) => answer(await recordWith(noteRefusals)(tx)))).catch(fail))',
    part: 'checkout',
  },
  'a 202 before the intent is promised': {
    file: 'origin/checkout/checkout.ts',
    from: '((await this.#promise(r)) ? outcome : inDoubt())',
    to: 'outcome',
    part: 'checkout',
  },
  'a 202 before the replica has it': {
    file: 'origin/stock/replicas.ts',
    from: '(await this.#hasReplica(redis, markKey)) && !(await this.#hasAcknowledged(redis, markKey))',
    to: 'false',
    part: 'checkout',
  },
  'no second look at the key before a refusal': {
    file: 'origin/checkout/checkout.ts',
    from: 'const existing = (await this.existing.byKey(attempt)) ?? (await this.existing.byVisitor(attempt))',
    to: 'const existing = await this.existing.byVisitor(attempt)',
    part: 'checkout',
  },
  "a key forgets another key's order that it was answered with": {
    file: 'origin/checkout/checkout.ts',
    from: 'if (other !== undefined)\n',
    to: 'if (false)\n',
    part: 'checkout',
  },
  'a sale that is sold out forgets who has bought': {
    file: 'origin/checkout/sold-out.ts',
    from: 'closed.empty.has(productId) && !closed.buyers.has(visitor)',
    to: 'closed.empty.has(productId)',
    part: 'payments',
  },
  'a rebuild forgets the keys of ended orders': {
    file: `${LUA}/restore.lua`,
    from: "    redis.call('HSETNX', KEYS[3], visitor .. ' ' .. key, order .. '|' .. hash)\n",
    to: '',
    part: 'checkout',
  },
  'an order expires whatever its state': {
    file: 'origin/ledger/transitions.ts',
    from: "expire: { from: ['reserved'],",
    to: "expire: { from: ['reserved', 'paying', 'confirmed'],",
    part: 'payments',
  },
  'a unit is given back twice': {
    file: `${LUA}/settle.lua`,
    from: "local isHeld = redis.call('ZREM', KEYS[2], order) == 1",
    to: "local isHeld = redis.call('ZREM', KEYS[2], order) == 1 or how ~= 'sell'",
    part: 'checkout',
  },
  'ends during a rebuild are not noted': {
    file: `${LUA}/settle.lua`,
    from: "  if fence and not isHeld and how ~= 'refuse' then",
    to: '  if false then',
    part: 'checkout',
  },
  'ends of restored holds are not noted': {
    file: `${LUA}/settle.lua`,
    from: "    if fence then redis.call('HSET', KEYS[1], 'ended ' .. order, table.concat(notes, ';')) end",
    to: '',
    part: 'checkout',
  },
  'adoptions during a rebuild are not noted': {
    file: `${LUA}/adopt.lua`,
    from: "if fenced then redis.call('HSET', KEYS[1], 'begun ' .. order, table.concat(notes, ';')) end",
    to: '',
    part: 'checkout',
  },
  'a refusal is not noted': {
    file: 'origin/checkout/checkout.ts',
    from: 'const recorder = isNoted ? this.#notingRecorder : this.#recorder',
    to: 'const recorder = this.#recorder',
    part: 'checkout',
  },
  'the recorder removes intents first': {
    file: 'origin/stock/intent-recorder.ts',
    from: '  const verdicts = reservations.length > 0 ? await record(sql, sale, reservations, true) : []\n',
    to: '  await gate.intents.remove(batch)\n  const verdicts = reservations.length > 0 ? await record(sql, sale, reservations, true) : []\n',
    part: 'checkout',
  },
  'the recorder notes no refusals': {
    file: 'origin/stock/intent-recorder.ts',
    from: 'await record(sql, sale, reservations, true)',
    to: 'await record(sql, sale, reservations, false)',
    part: 'checkout',
  },
  'a rebuild reads the ledger before it fences the gate': {
    file: 'origin/stock/reconciler.ts',
    from: `    const rebuild = await gates.of(sale).fence()
    await recordIntents(this.#deps, sale, 0)
`,
    to: '    const early = await readCounters(sql, sale)\n    const rebuild = await gates.of(sale).fence()\n    await recordIntents(this.#deps, sale, 0)\n    await rebuild.open(early.map((p) => ({ ...p, available: available(p) })))\n',
    part: 'checkout',
  },
  'a rebuild forgets what waits to be recorded': {
    file: 'origin/stock/gate/gate.ts',
    from: '    const { stock, unrecorded, unpaid, ...others } = this.#key\n    const fence',
    to: '    const { stock, unpaid, ...others } = this.#key\n    const fence',
    part: 'checkout',
  },
  'two rebuilds at once': {
    file: 'origin/stock/reconciler.ts',
    from: "if (!(await lockRebuild(tx, sale.sale_id))) return 'busy'",
    to: 'await lockRebuild(tx, sale.sale_id)',
    part: 'checkout',
  },
  'promised intents are given back': {
    file: `${LUA}/settle.lua`,
    from: "  return promised == 'p' and 'promised' or taken == 't' and 'taken' or 'given back'",
    to: "  return taken == 't' and 'taken' or 'given back'",
    part: 'checkout',
  },
  'taken intents are given back': {
    file: `${LUA}/settle.lua`,
    from: "  return promised == 'p' and 'promised' or taken == 't' and 'taken' or 'given back'",
    to: "  return promised == 'p' and 'promised' or 'given back'",
    part: 'checkout',
  },
  'a lost answer of the ledger counts as a refusal': {
    file: 'origin/ledger/connection.ts',
    from: 'const BROKEN = /^(CONNECTION_(CLOSED|DESTROYED)|ECONNRESET|EPIPE|ETIMEDOUT)$/',
    to: 'const BROKEN = /^never$/',
    part: 'checkout',
  },
  'a lost reply of the gate counts as fenced': {
    file: 'origin/stock/gate/gate.ts',
    from: "const verdict = isSent && !(error instanceof ReplyError) ? 'unknown' : 'fenced'",
    to: "const verdict = isSent && error instanceof ReplyError ? 'unknown' : 'fenced'",
    part: 'checkout',
  },
  'the ledger does not bound the units': {
    file: `${SQL}/record-reservations.sql`,
    from: 'and p.held + p.sold + v_sum <= p.total - p.buffer\n      and coalesce',
    to: 'and coalesce',
    part: 'checkout',
  },
  "the limit of a visitor is the gate's alone": {
    file: `${SQL}/record-reservations.sql`,
    from: 'or v_one.noted is null and coalesce(v_units[v_one.visitor], v_one.units) + v_one.quantity > v_limit then',
    to: 'then',
    part: 'checkout',
  },
  'capture before confirmation': {
    file: 'origin/payments/charges.ts',
    from: '        const { charge } = charged\n',
    to: '        const { charge } = charged\n        await provider.capture({ charge, order: order_id })\n',
    part: 'payments',
  },
  'a cancelled order keeps its money': {
    file: 'origin/orders/orders.ts',
    from: "const charge = status === 'confirmed' ? before.charge_id : before.action?.charge",
    to: 'const charge = before.action?.charge',
    part: 'payments',
  },
  'a refund without its key': {
    file: 'origin/payments/outbox.ts',
    from: 'const made = await provider.refund({ ...owed, key: id, amountMinor: left.amountMinor, failed })',
    to: 'const made = await provider.refund({ ...owed, key: this.#runtime.uuid(), amountMinor: left.amountMinor, failed })',
    part: 'payments',
  },
  'refunds do not read what was given back': {
    file: 'origin/payments/outbox.ts',
    from: 'if (refunds.length > 0) await this.#noted.add({ ...owed, takenMinor, refunds })',
    to: '',
    part: 'payments',
  },
  'late charges are forgotten': {
    file: 'origin/payments/charges.ts',
    from: '    if (!isConfirmed) await this.#refundUnlessPaid(',
    to: '    if (!isConfirmed && isOpen) await this.#refundUnlessPaid(',
    part: 'payments',
  },
  'a charge without an answer is declined': {
    file: 'origin/payments/charges.ts',
    from: "if (mayTry(order, job.attempt + 1, this.#deps.nowMs())) return { end: 'failed', error: charged.reason }",
    to: 'await orders.timeOut(order_id)\n        return DONE',
    part: 'payments',
  },
  'the charge of an abandoned order is not cancelled': {
    file: 'origin/payments/charges.ts',
    from: '          const record = await provider.cancel(charge)\n          if (isAuthorized(record)) await this.settle(record)\n',
    to: '',
    part: 'payments',
  },
  'a payment is begun after the hold has ended': {
    file: `${SQL}/advance-orders.sql`,
    from: '      and (a.method is null or o.reserved_until > (select hold_clock()))\n',
    to: '',
    part: 'payments',
  },
  'a transition does not look at the state': {
    file: `${SQL}/advance-orders.sql`,
    from: 'where o.order_id = any(p_ids) and o.status = any(p_from)',
    to: 'where o.order_id = any(p_ids)',
    part: 'payments',
  },
  'the job of a charge ends before its charge': {
    file: 'origin/payments/charges.ts',
    from: "await end(job, await this.#deps.resume(job.data.trace, 'charge', () => this.#charge(job, orders[i])))",
    to: 'await end(job, DONE)\n          await this.#charge(job, orders[i])',
    part: 'payments',
  },
}
