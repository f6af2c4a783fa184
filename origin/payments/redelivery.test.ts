import { expect, test } from 'vitest'
import { endLeases, useOwnOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'

const database = useDatabase()
const redis = useRedis()
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
/** Charges and captures are slow enough to kill a worker during both. */
const worker = { ROLE: 'worker', SANDBOX_SLOW_MS: '5500', SANDBOX_TIMEOUT_MS: '6000' }
const api = useOwnOrigin(stores, { ROLE: 'api' })
const first = useOwnOrigin(stores, worker)
const second = useOwnOrigin(stores, worker)

test('charges and captures of a killed worker are finished by another, each made once', async () => {
  await second.stop()
  const sale = await api.sale({ total: 4 })
  const reserve = async () => {
    const token = await api.token(sale)
    const { body } = await api.checkout(sale, { token })
    return { id: body.order_id ?? '', token }
  }
  const pay = ({ id, token }: { id: string; token: string }) =>
    api.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: 'pm_slow' } })
  const charges = (buyers: { id: string }[]) =>
    api.sql()<{ order: string; status: string; attempts: number; captures: number; done: boolean }[]>`
      select o.status as order, c.status, c.attempts, c.capture_attempts as captures, k.captured_at is not null as done
      from orders o join sandbox.charges c using (order_id) left join captures k on k.charge_id = o.charge_id
      where o.order_id = any(${buyers.map(({ id }) => id)}::uuid[])`

  const capturing = [await reserve()]
  const charging = [await reserve(), await reserve(), await reserve()]
  await Promise.all(capturing.map(pay))
  await expect.poll(() => charges(capturing)).toMatchObject([{ captures: 1 }])
  await Promise.all(charging.map(pay))
  await expect.poll(() => charges(charging)).toHaveLength(3)
  await first.kill()
  expect(await charges(capturing)).toEqual([
    { order: 'confirmed', status: 'authorized', attempts: 1, captures: 1, done: false },
  ])
  expect(await charges(charging)).toEqual(
    Array(3).fill({ order: 'paying', status: 'pending', attempts: 1, captures: 0, done: false }),
  )
  // The charges are in progress, so their holds do not end.
  await api.sql()`update orders set reserved_until = now() where sale_id = ${sale} and status = 'paying'`
  await endLeases(api.sql())
  await second.restart()

  const twice = Array(3).fill({ attempts: 2 })
  await expect.poll(() => charges(charging)).toMatchObject(twice)
  const captured = { order: 'confirmed', status: 'captured', done: true }
  const chargedAgain = Array(3).fill({ ...captured, attempts: 2, captures: 1 })
  await expect.poll(() => charges(charging)).toEqual(chargedAgain)
  await expect.poll(() => charges(capturing)).toEqual([{ ...captured, attempts: 1, captures: 2 }])
  for (const { id, token } of [...capturing, ...charging])
    expect((await api.call('GET', `/orders/${id}`, { token })).body.status).toBe('confirmed')
  expect(await api.stock(sale)).toMatchObject({ available: 0, held: 0, sold: 4 })
})
