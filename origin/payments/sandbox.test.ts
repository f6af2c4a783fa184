import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { useDatabase } from '../../test/servers.ts'
import { startSandbox } from './sandbox.ts'
import { sandboxProvider } from './sandbox-client.ts'

const database = useDatabase()

test('the sandbox lists every change once, even of one transaction larger than a page', async () => {
  const secret = randomUUID()
  const webhookUrl = 'http://127.0.0.1:9/nobody-listens'
  const sandbox = await startSandbox({ databaseUrl: database.url, webhookUrl, secret })
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    const provider = sandboxProvider({ url: sandbox.url, secret, timeoutMs: 5_000, nowMs: Date.now })
    const inserted = Array.from({ length: 2_500 }, () => `ch_${randomUUID()}`)
    await sql`
      insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
      select id, id, gen_random_uuid(), 1000, 'EUR', 'pm_ok', 'cancelled' from unnest(${inserted}::text[]) id`
    const listed: string[] = []
    let last: string | null = null
    const readOn = async () => {
      for await (const { records, cursor } of provider.changes(last)) {
        listed.push(...records.map((r) => r.charge))
        last = cursor
      }
      return listed.length
    }
    // A transaction that runs elsewhere on this server delays the list.
    await expect.poll(readOn).toBe(inserted.length)
    expect(listed.toSorted()).toEqual(inserted.toSorted())
    expect(await readOn()).toBe(inserted.length)
  } finally {
    await sql.end()
    await sandbox.stop()
  }
})
