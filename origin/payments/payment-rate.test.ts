/** An origin whose provider takes few calls a second: payments are the limit of the sale. */
import { expect, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'

const PER_SECOND = 20
const BUYERS = 80
const HOLD_SECONDS = 2
const rate = String(PER_SECOND)
const origin = useOwnOrigin(undefined, { PAYMENTS_PER_SECOND: rate, SANDBOX_CALLS_PER_SECOND: rate })

test('no buyer who has submitted a card loses their unit, and nobody is called whose charge would come too late', async () => {
  const sale = await origin.sale({ total: BUYERS, hold_seconds: HOLD_SECONDS })
  const state = async () =>
    (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body as {
      readonly admission: { readonly max_inside: number }
      readonly products: readonly [{ readonly held: number }]
    }
  expect((await state()).admission.max_inside).toBe((PER_SECOND * HOLD_SECONDS) / 2)
  const body = { payment_method: 'pm_ok' }
  await Promise.all(Array.from({ length: BUYERS }, () => origin.checkoutDecided(sale, { body })))
  const full = await eventually(state, ({ admission, products: [{ held }] }) => admission.max_inside <= held)
  expect(full.admission.max_inside).toBeLessThanOrEqual(full.products[0].held)

  const statuses = async () =>
    origin.sql()`select status, count(*)::int as orders from orders where sale_id = ${sale} group by status`
  const done = await eventually(
    statuses,
    ([{ status = '' } = {}, ...others]) => status === 'confirmed' && others.length === 0,
  )
  expect(done).toEqual([{ status: 'confirmed', orders: BUYERS }])
  // Later than their holds: four seconds at this rate.
  const [{ seconds }] = (await origin.sql()`
    select extract(epoch from max(updated_at - reserved_until))::float8 as seconds from orders where sale_id = ${sale}`) as unknown as [
    { seconds: number },
  ]
  expect(seconds).toBeGreaterThan(0)
  const metrics = String((await origin.ops('/metrics')).body.text)
  expect(Number(/^provider_calls_total\{kind="charge"\} (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(BUYERS)
})
