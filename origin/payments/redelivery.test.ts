import { expect, test } from 'vitest'
import { eventually, useOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'

const database = useDatabase()
const redis = useRedis()
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
/** Charges are slow enough to kill a worker during one. */
const worker = { ROLE: 'worker', SANDBOX_SLOW_MS: '1500', SANDBOX_TIMEOUT_MS: '5000' }
const api = useOrigin(stores, { ROLE: 'api' })
const first = useOrigin(stores, worker)
const second = useOrigin(stores, worker)
const REDELIVERED_WITHIN_MS = 15_000

test('charges of a killed worker are finished by another, each made once', async () => {
  await second.stop()
  const sale = await api.sale({ total: 3, hold_seconds: 5 })
  const buyers = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const token = await api.token(sale)
      const { body } = await api.checkout(sale, { token })
      const id = body.order_id ?? ''
      await api.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: 'pm_slow' } })
      return { id, token }
    }),
  )
  const ids = buyers.map((b) => b.id)
  const charges = () =>
    api.sql()<{ status: string; attempts: number }[]>`
      select status, attempts from sandbox.charges where order_id = any(${ids}::uuid[])`
  await eventually(charges, (rows) => rows.length === 3)
  await first.kill()
  const killedAt = performance.now()
  await second.restart()
  expect(await charges()).toEqual(Array(3).fill({ status: 'pending', attempts: 1 }))

  await eventually(charges, (rows) => rows.every((row) => row.attempts === 2), 20_000)
  expect(performance.now() - killedAt).toBeLessThan(REDELIVERED_WITHIN_MS)
  await eventually(
    () => api.stock(sale),
    (stock) => stock.sold === 3,
  )
  expect(await eventually(charges, (rows) => rows.every((row) => row.status === 'captured'))).toEqual(
    Array(3).fill({ status: 'captured', attempts: 2 }),
  )
  for (const { id, token } of buyers) {
    expect((await api.call('GET', `/orders/${id}`, { token })).body.status).toBe('confirmed')
  }
  expect(await api.stock(sale)).toMatchObject({ available: 0, held: 0, sold: 3 })
}, 60_000)

test('a capture of a killed worker is done by another, once', async () => {
  await Promise.all([first.restart(), second.stop()])
  const sale = await api.sale()
  const token = await api.token(sale)
  const { body } = await api.checkout(sale, { token, body: { payment_method: 'pm_slow' } })
  const id = body.order_id ?? ''
  const read = () =>
    api.sql()<{ order: string; status: string; capture_attempts: number; done: boolean }[]>`
      select o.status as order, c.status, c.capture_attempts, k.captured_at is not null as done
      from orders o join sandbox.charges c using (order_id) left join captures k on k.charge_id = o.charge_id
      where o.order_id = ${id}`
  expect(await eventually(read, ([charge]) => charge?.capture_attempts === 1)).toEqual([
    { order: 'confirmed', status: 'authorized', capture_attempts: 1, done: false },
  ])
  await first.kill()
  await second.restart()
  expect(await read()).toMatchObject([{ status: 'authorized' }])
  expect(await eventually(read, ([charge]) => charge?.done === true, 20_000)).toEqual([
    { order: 'confirmed', status: 'captured', capture_attempts: 2, done: true },
  ])
}, 60_000)
