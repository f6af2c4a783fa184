import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ADMIN_TOKEN, type TestOrigin, useOrigin, useOwnOrigin } from '../../test/origin-process.ts'

const origin = useOrigin()
const broken = useOwnOrigin()

describe('the export of orders', () => {
  const path = (sale: string, format: string) => `/sales/${sale}/orders?format=${format}`

  test('quotes CSV fields, and disarms formulas', async () => {
    const sale = await origin.sale()
    const token = await origin.token(sale)
    const id = (await origin.checkout(sale, { token })).body.order_id ?? ''
    await origin.sql()`update orders set visitor = '=1+1', reason = 'said "no", twice' where order_id = ${id}`
    const { body, headers } = await origin.admin('GET', path(sale, 'csv'))
    expect(headers.get('content-type')).toContain('text/csv')
    expect(headers.get('content-disposition')).toContain(`${sale}-orders.csv`)
    const [header = '', row = '', end] = String(body.text).split('\r\n')
    expect(header.split(',').slice(0, 3)).toEqual(['order_id', 'product_id', 'visitor'])
    expect(row).toContain(`${id},one,'=1+1,`)
    expect(row).toContain(',"said ""no"", twice",')
    expect(end).toBe('')
    expect(await origin.call('GET', `/admin${path(sale, 'csv')}`, { token })).toMatchObject({ status: 401 })
    expect(await origin.admin('GET', path(sale, 'pdf'))).toMatchObject({ status: 422 })
  })

  test('shows when money was captured or refunded', async () => {
    const sale = await origin.sale()
    await origin.checkout(sale)
    await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
    const read = async (status: string) => {
      const { body } = await origin.admin('GET', path(sale, 'ndjson'))
      const orders = String(body.text).trim().split('\n')
      return orders.map((line) => JSON.parse(line)).find((order) => order.status === status)
    }
    const becomes = (status: string, shown: object) => expect.poll(() => read(status)).toMatchObject(shown)
    const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    await becomes('confirmed', { captured_at: date, refunded_at: null, refunded_minor: 0 })
    expect(await read('reserved')).toMatchObject({ captured_at: null, refunded_at: null })
    const { charge_id } = await read('confirmed')
    await origin.sql()`
      update sandbox.charges set status = 'refunded', changed_by = pg_current_xact_id()
      where charge_id = ${charge_id}`
    await becomes('refunded', { captured_at: date, refunded_at: date, refunded_minor: 1_000 })
  })

  const authorization = `Bearer ${ADMIN_TOKEN}`
  const exported = (sale: string, at: TestOrigin = origin) =>
    fetch(`${at.url()}/admin${path(sale, 'ndjson')}`, { headers: { authorization } })
  const ORDERS = 40_000
  async function manyOrders(at: TestOrigin = origin) {
    const sale = await at.sale({ total: 1 })
    await at.sql()`
      insert into orders (order_id, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor, currency,
                          status, idempotency_key, request_hash, reserved_until)
      select gen_random_uuid(), ${sale}, 'one', 'visitor ' || i, i, 1, 1000, 'EUR', 'expired', 'k', 'h', now()
      from generate_series(1, ${ORDERS}) i`
    return sale
  }

  test('has every order once, also for a slow reader', async () => {
    const sale = await manyOrders()
    const response = await exported(sale)
    const ids = new Set<string>()
    let text = ''
    let lines = 0
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const rows = text.split('\n')
      text = rows.pop() ?? ''
      lines += rows.length
      for (const row of rows) ids.add((JSON.parse(row) as { order_id: string }).order_id)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(text).toBe('')
    expect([ids.size, lines]).toEqual([ORDERS, ORDERS])
  })

  test('does not look complete if it fails', async () => {
    const sale = await manyOrders(broken)
    const response = await exported(sale, broken)
    const reader = response.body?.getReader()
    await reader?.read()
    await broken.sql()`alter table orders rename to orders_away`
    const rest = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(rest()).rejects.toThrow()
    expect(await origin.admin('GET', `/sales/${randomUUID()}/orders`)).toMatchObject({ status: 404 })
  })
})
