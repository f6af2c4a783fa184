/** A whole origin that may reach the public Internet alone. */
import { expect, test } from 'vitest'
import { useOwnOrigin } from '../../test/origin-process.ts'
import { useReceiver } from '../../test/stand-ins/receiver.ts'

const origin = useOwnOrigin(undefined, { WEBHOOKS_ALLOW_PRIVATE: 'false' })
const receiver = useReceiver()

test('no private network is reached: an address is refused, a name at the connection', async () => {
  const url = receiver.url('/inside')
  const events = ['order.reserved']
  expect(await origin.admin('POST', '/webhooks', { url, events })).toMatchObject({ status: 422 })
  const named = { url: url.replace('127.0.0.1', 'localhost'), events }
  const { status, body } = await origin.admin('POST', '/webhooks', named)
  expect(status).toBe(201)
  expect(await origin.admin('PATCH', `/webhooks/${body.endpoint}`, { url })).toMatchObject({ status: 422 })
  await origin.checkout(await origin.sale())
  await expect
    .poll(async () => (await origin.admin('GET', `/webhooks/${body.endpoint}/deliveries`)).body.deliveries)
    .toMatchObject([{ state: 'pending', status: null, error: expect.stringContaining('not an address of the public') }])
  expect(receiver.at('/inside')).toEqual([])
})
