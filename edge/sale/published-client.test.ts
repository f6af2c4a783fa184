/** The client that other teams install runs in the Workers runtime, and understands what this Worker answers there. */
import { expect, it } from 'vitest'
import { FlashSale } from '../../client/src/index.ts'
import { verifyWebhook } from '../../client/src/webhooks.ts'
import type { Env } from '../http/config.ts'
import { edgeEnv } from '../testing/origin.ts'
import { call, TestSale } from '../testing/visitors.ts'

/** The shop, whose calls this isolate answers. */
const shopOf = (settings: Env = edgeEnv) =>
  new FlashSale('https://shop.example', {
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input))
      const headers = Object.fromEntries(new Headers(init?.headers as HeadersInit))
      const body = init?.body as string | undefined
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const sent = {
        method: init?.method ?? 'GET',
        headers: { ...headers, ...length },
        ...(body !== undefined && { body }),
      }
      return call(pathname + search, sent, settings)
    },
  })

it('joins for a proof of work, and waits for its turn', async () => {
  const sale = await new TestSale().publish()
  const shop = shopOf({ ...edgeEnv, POW_DIFFICULTY: '2000' })
  const place = await shop.join(sale.name)
  const turn = await shop.resume(sale.name, place.token).wait()
  expect(turn.expiresAt?.getTime()).toBeGreaterThan(Date.now())
  expect(turn.token.split('.')).toHaveLength(3)
})

it('hears that a place is no more, and that nothing is left', async () => {
  const sale = await new TestSale().publish({ admission: { rate_per_second: 0.01, max_inside: null } })
  const place = await shopOf().join(sale.name)
  await expect(shopOf().resume(sale.name, `${place.token}x`).wait()).rejects.toMatchObject({ type: 'invalid-token' })
  await sale.publish({ phase: 'ended' })
  await sale.until(({ phase }) => phase === 'ended')
  const resumed = shopOf().resume(sale.name, place.token)
  await expect(resumed.wait()).rejects.toMatchObject({ name: 'WaitOver', reason: 'ended' })
})

it('verifies a webhook, by the example of the Standard Webhooks specification', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const request = new Request('https://shop.example', { method: 'POST', headers, body: '{"test": 2432232314}' })
  expect(await verifyWebhook(secret, request, { nowMs: 1_614_265_330_000 })).toEqual({ test: 2432232314 })
})
