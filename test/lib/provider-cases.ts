/**
 * The table of cases that every payment provider passes: what `origin/providers/provider.ts` promises, played against
 * the real server of each. A file with a provider calls it in a `describe`.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ChargeRecord, PaymentProvider } from '../../origin/providers/provider.ts'

interface Harness {
  readonly provider: PaymentProvider
  /** Payment methods by what becomes of them. */
  readonly methods: {
    readonly good: string
    readonly declined: string
    readonly insufficient: string
    readonly needsBuyer: string
  }
  /** The buyer decides at their bank. */
  decide(action: { readonly charge: string; readonly url: string }, isGood: boolean): Promise<unknown>
  /** It is time to compare records. */
  beforeChanges?(): Promise<unknown>
}

const SUM = { amountMinor: 2_000, currency: 'EUR' }
const returnUrl = 'http://shop.test/order'

export function providerCases({ provider, methods, decide, beforeChanges }: Harness): void {
  const authorize = (order: string, method = methods.good, attempt = 1) =>
    provider.authorize({ order, attempt, ...SUM, method, returnUrl })

  async function authorized() {
    const order = randomUUID()
    const made = await authorize(order)
    if (made.result !== 'authorized') throw new Error(JSON.stringify(made))
    return { charge: made.charge, order }
  }
  async function captured() {
    const charge = await authorized()
    expect(await provider.capture(charge)).not.toBeNull()
    return charge
  }
  async function waiting() {
    const order = randomUUID()
    const made = await authorize(order, methods.needsBuyer)
    if (made.result !== 'requires_action') throw new Error(JSON.stringify(made))
    return { order, ...made.action }
  }

  test('authorizes an order once, however often it is asked', async () => {
    const order = randomUUID()
    const made = [await authorize(order), ...(await Promise.all([authorize(order), authorize(order)]))]
    expect(new Set(made.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(made[0]).toMatchObject({ result: 'authorized' })
    expect(await provider.find(order)).toMatchObject({ order, status: 'authorized', ...SUM })
  })

  test('finds nothing of an order that it was not asked for', async () => {
    expect(await provider.find(randomUUID())).toBeUndefined()
  })

  test('captures once, and says so each time', async () => {
    const charge = await authorized()
    const first = await provider.capture(charge)
    expect(await provider.capture(charge)).toEqual(first)
    expect(await provider.find(charge.order)).toMatchObject({ ...charge, status: 'captured', ...SUM })
    expect(await provider.returns(charge.charge)).toEqual({ takenMinor: SUM.amountMinor, refunds: [] })
  })

  test.each([
    ['declined', 'declined'],
    ['insufficient', 'insufficient_funds'],
  ] as const)('declines a card: %s', async (method, code) => {
    const order = randomUUID()
    expect(await authorize(order, methods[method])).toEqual({ result: 'declined', code })
    expect(await provider.find(order)).toMatchObject({ order, status: 'declined', attempt: 1, code })
  })

  test('makes another charge for another attempt, and finds the one that holds', async () => {
    const order = randomUUID()
    await authorize(order, methods.declined, 1)
    const second = await authorize(order, methods.good, 2)
    expect(await provider.find(order)).toMatchObject({ status: 'authorized', charge: Object(second).charge })
  })

  test.each([
    [true, { status: 'authorized', ...SUM }],
    [false, { status: 'declined', attempt: 1, code: 'authentication_failed' }],
  ])('needs a buyer, who approves: %s', async (isGood, state) => {
    const { order, ...action } = await waiting()
    const { charge } = action
    expect(await provider.read(charge)).toMatchObject({ charge, order, status: 'requires_action', attempt: 1, action })
    expect(await authorize(order, methods.needsBuyer)).toMatchObject({ result: 'requires_action' })
    for (let times = 0; times < 2; times++) await decide(action, isGood)
    expect(await provider.read(charge)).toMatchObject({ charge, order, ...state })
  })

  test('cancels for good what is not taken, and nothing else', async () => {
    const [held, { charge, order, url }, taken] = [await authorized(), await waiting(), await captured()]
    for (let times = 0; times < 2; times++) {
      expect(await provider.cancel(held.charge)).toMatchObject({ ...held, status: 'cancelled' })
      expect(await provider.cancel(charge)).toMatchObject({ charge, order, status: 'cancelled' })
      expect(await provider.cancel(taken.charge)).toMatchObject({ ...taken, status: 'captured', ...SUM })
    }
    await decide({ charge, url }, true)
    expect(await provider.find(order)).toMatchObject({ status: 'cancelled' })
    expect(await provider.capture(held)).toBeNull()
  })

  test('gives back nothing of what was not taken', async () => {
    const charge = await authorized()
    await expect(provider.refund({ ...charge, key: randomUUID(), amountMinor: 1, failed: 0 })).rejects.toThrow()
    expect(await provider.returns(charge.charge)).toEqual({ takenMinor: 0, refunds: [] })
  })

  test('gives back parts, each key once, then what is left, and never more than was taken', async () => {
    const charge = await captured()
    const refund = (key: string, amountMinor: number | null) =>
      provider.refund({ ...charge, key, amountMinor, failed: 0 })
    const [part, rest] = [randomUUID(), randomUUID()]
    const made = await refund(part, 300)
    expect(made).toMatchObject({ key: part, amountMinor: 300, isMade: true })
    expect(await refund(part, 300)).toEqual(made)
    await expect(refund(randomUUID(), SUM.amountMinor)).rejects.toThrow()
    expect(await provider.find(charge.order)).toMatchObject({ status: 'captured', ...SUM, refundedMinor: 300 })
    const last = await refund(rest, null)
    expect(last).toMatchObject({ key: rest, amountMinor: 1_700, isMade: true })
    const returns = await provider.returns(charge.charge)
    expect({ ...returns, refunds: new Set(returns.refunds) }).toEqual({
      takenMinor: SUM.amountMinor,
      refunds: new Set([made, last]),
    })
    expect(await provider.find(charge.order)).toMatchObject({ ...charge, status: 'refunded' })
  })

  test('lists what changed after a cursor', async () => {
    const list = async (since: string | null) => {
      await beforeChanges?.()
      const [records, cursors]: [ChargeRecord[], string[]] = [[], []]
      for await (const page of provider.changes(since)) {
        records.push(...page.records)
        cursors.push(page.cursor)
      }
      return { records, cursor: cursors.at(-1) ?? since }
    }
    const { cursor } = await list(null)
    const charge = await authorized()
    await expect
      .poll(async () => (await list(cursor)).records)
      .toContainEqual(expect.objectContaining({ ...charge, status: 'authorized', ...SUM }))
  })

  test('believes no webhook without its signature', async () => {
    const charge = await authorized()
    const body = JSON.stringify({ ...charge, status: 'captured', attempt: 1, amount_minor: 2_000, currency: 'EUR' })
    expect(await provider.readWebhook(() => undefined, body)).toBeUndefined()
  })
}
