/** Workers forecast the load of a sale for an autoscaler, from its opening, its visitors and what is scheduled. */
import { expect, test } from 'vitest'
import { eventually } from '../../../test/lib/eventually.ts'
import { useOrigin } from '../../../test/lib/origin-process.ts'

const origin = useOrigin()
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

test('an opening in some minutes is in the metrics now, at the rate that is scheduled for it', async () => {
  const sale = await origin.sale({ opens_at: inMinutes(5), expected_visitors: 12_000, total: 10 })
  const action = { at: inMinutes(2), action: 'rate', rate_per_second: 20 }
  expect((await origin.admin('POST', `/sales/${sale}/scheduled`, action)).status).toBe(201)
  const figure = async (name: string) => {
    const { text } = (await origin.ops('/metrics')).body as { text: string }
    const line = text.split('\n').find((one) => one.startsWith(`forecast_${name}{`) && one.includes(`"${sale}"`))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }
  const forecast = () => Promise.all(['joins_per_second', 'checkouts_per_second'].map(figure))
  // Half of those who are expected come in the minute of the opening.
  expect(await eventually(forecast, ([, checkouts]) => checkouts === 20)).toEqual([100, 20])
})
