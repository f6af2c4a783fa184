import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { useDatabase } from '../../test/servers.ts'
import { startSandbox } from './sandbox.ts'
import { sandboxProvider } from './sandbox-client.ts'

const database = useDatabase()

test('every change is told, also of more charges in one transaction than a page holds', async () => {
  const secret = randomUUID()
  const webhookUrl = 'http://127.0.0.1:9/nobody-listens'
  const sandbox = await startSandbox({ databaseUrl: database.url, webhookUrl, secret })
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    const provider = sandboxProvider({ url: sandbox.url, secret, timeoutMs: 5_000, nowMs: Date.now })
    const made = Array.from({ length: 2_500 }, () => `ch_${randomUUID()}`)
    await sql`
      insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
      select id, id, gen_random_uuid(), 1000, 'EUR', 'pm_ok', 'cancelled' from unnest(${made}::text[]) id`
    const told: string[] = []
    let last = ''
    for await (const { records, cursor } of provider.changes(null)) {
      told.push(...records.map((r) => r.charge))
      last = cursor
    }
    expect(told.toSorted()).toEqual(made.toSorted())
    for await (const { records } of provider.changes(last)) expect(records).toEqual([])
  } finally {
    await sql.end()
    await sandbox.stop()
  }
})
