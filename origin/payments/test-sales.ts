/**
 * The sandbox beside a provider that takes money, for orders of test sales alone: neither ever sees an order of the
 * other. What the sandbox reports of any other order does not count, since it would be confirmed for nothing.
 */
import type { Sql } from '../ledger/connection.ts'
import type { ChargeRecord, PaymentProvider } from '../providers/provider.ts'
import { isSandboxCharge } from '../providers/sandbox-client.ts'
import { ordersOfTestSales } from './payment-queries.ts'

export interface Running {
  readonly provider: PaymentProvider
  stop(): Promise<void>
}

/**
 * The sandbox is started by the first call for a test sale, so that a shop without test sales has neither its schema
 * nor its connections. `idle` reads webhooks. Its changes are read if `isUsed`, since another process may have
 * started it.
 */
export function onDemand(
  idle: PaymentProvider,
  start: () => Promise<Running>,
  isUsed: () => Promise<boolean>,
): Running {
  let starting: Promise<Running> | undefined
  const running = async () => {
    starting ??= start().catch((error) => {
      starting = undefined
      throw error
    })
    return (await starting).provider
  }
  const provider: PaymentProvider = {
    ...idle,
    authorize: async (charge) => (await running()).authorize(charge),
    read: async (charge) => (await running()).read(charge),
    capture: async (charge) => (await running()).capture(charge),
    cancel: async (charge) => (await running()).cancel(charge),
    returns: async (charge) => (await running()).returns(charge),
    refund: async (charge) => (await running()).refund(charge),
    find: async (order) => (await running()).find(order),
    async *changes(since) {
      if (await isUsed()) yield* (await running()).changes(since)
    },
  }
  return { provider, stop: async () => (await starting?.catch(() => undefined))?.stop() }
}

export function withTestSales(
  sql: Sql,
  real: PaymentProvider,
  sandbox: PaymentProvider,
): { provider: PaymentProvider; sources: readonly PaymentProvider[] } {
  const byOrder = async (order: string) => ((await ordersOfTestSales(sql, [order])).has(order) ? sandbox : real)
  const byCharge = (charge: string) => (isSandboxCharge(charge) ? sandbox : real)
  const ofTestSales = async (records: readonly ChargeRecord[]) => {
    const known = await ordersOfTestSales(
      sql,
      records.map(({ order }) => order),
    )
    return records.filter(({ order }) => known.has(order))
  }
  const guarded: PaymentProvider = {
    ...sandbox,
    async *changes(since) {
      for await (const { records, cursor } of sandbox.changes(since))
        yield { records: await ofTestSales(records), cursor }
    },
    async readWebhook(header, body) {
      const charge = await sandbox.readWebhook(header, body)
      return charge ? ((await ofTestSales([charge]))[0] ?? null) : charge
    },
  }
  const provider: PaymentProvider = {
    ...real,
    authorize: async (charge) => (await byOrder(charge.order)).authorize(charge),
    find: async (order) => (await byOrder(order)).find(order),
    read: (charge) => byCharge(charge).read(charge),
    cancel: (charge) => byCharge(charge).cancel(charge),
    capture: (charge) => byCharge(charge.charge).capture(charge),
    returns: (charge) => byCharge(charge).returns(charge),
    refund: (charge) => byCharge(charge.charge).refund(charge),
  }
  return { provider, sources: [real, guarded] }
}
