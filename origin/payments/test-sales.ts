/**
 * The sandbox beside a provider that takes money, for orders of test sales alone: neither ever sees an order of the
 * other. What the sandbox reports of any other order does not count, since it would be confirmed for nothing.
 */
import type { Sql } from '../ledger/connection.ts'
import type { ChargeRecord, PaymentProvider } from '../providers/provider.ts'
import { isSandboxCharge } from '../providers/sandbox-client.ts'
import { ordersOfTestSales } from './payment-queries.ts'

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
