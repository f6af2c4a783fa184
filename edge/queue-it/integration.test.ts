/** The integration configuration, as connectors pull it and as a shop takes a push; and the call of apps. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { Token } from '@queue-it/queue-token'
import { expect, it } from 'vitest'
import type { Integration, QueueItCustomer } from '../http/queue-it-setting.ts'
import { edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { call, TestSale } from '../testing/visitors.ts'
import { API_KEY, pathOfRedirect, SECRET, ShopVisitor, settingOf } from './connector-shop.ts'

const integrationFor = (event: string): Integration => ({
  Version: 12,
  Description: 'as exported',
  Integrations: [
    {
      ...{ Name: 'basket', ActionType: 'Queue', EventId: event, RedirectLogic: 'AllowTParameter' },
      ...{ QueueDomain: 'acme.queue-it.net', CookieValidityMinute: 20, ExtendCookieValidity: true, CookieDomain: '' },
      Triggers: [
        {
          LogicalOperator: 'Or',
          TriggerParts: [
            { ValidatorType: 'UrlValidator', Operator: 'Contains', UrlPart: 'PagePath', ValueToCompare: '/basket' },
          ],
        },
      ],
    },
  ],
})

async function shopWith(changed: (event: string) => Partial<QueueItCustomer>) {
  const sale = await new TestSale().publish()
  const { name: event } = sale
  return { sale, event, env: { ...edgeEnv, QUEUE_IT: settingOf(event, { api_key: API_KEY, ...changed(event) }) } }
}

const PULL = '/status/integrationconfig/secure/acme'
const withKey = { headers: { 'api-key': API_KEY } }

it('a connector pulls the configuration, in which the rooms are ours, and sends its visitors here', async () => {
  const { env, event } = await shopWith((event) => ({ integration: integrationFor(event) }))
  const pulled = await call(PULL, withKey, env)
  expect([pulled.status, pulled.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const text = await pulled.text()
  expect(JSON.parse(text)).toMatchObject({ Version: 12, Description: 'as exported' })
  const visitor = new ShopVisitor(event)
  expect((await visitor.openBy(text, 'https://shop.example/lamps')).doRedirect()).toBe(false)
  const held = await visitor.openBy(text, 'https://shop.example/basket')
  expect(held.redirectUrl).toContain('https://edge.test/q/acme/?c=acme')
  const { Integrations } = JSON.parse(text) as Integration
  expect(Integrations[0]).toMatchObject({ QueueDomain: 'edge.test/q/acme', QueuePathPrefix: null })
  expect((await call(pathOfRedirect(held), {}, env)).headers.get('location')).toBe(`/sales/${event}`)
})

it('nobody else pulls or pushes it', async () => {
  const { env } = await shopWith((event) => ({ integration: integrationFor(event), push_url: 'https://shop.example/' }))
  for (const headers of [{}, { 'api-key': SECRET }, { 'api-key': '' }] as Record<string, string>[]) {
    expect((await call(PULL, { headers }, env)).status).toBe(401)
    expect((await call('/q/acme/push', { method: 'POST', headers }, env)).status).toBe(401)
  }
  expect((await call('/status/integrationconfig/secure/other', withKey, env)).status).toBe(404)
  const { env: keyless } = await shopWith((event) => ({ integration: integrationFor(event), api_key: undefined }))
  expect((await call(PULL, { headers: { 'api-key': '' } }, keyless)).status).toBe(401)
})

/** The hash as a shop makes it, by other code than the edge's. */
async function signed(text: string): Promise<string> {
  const encoder = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(SECRET), algorithm, false, ['sign'])
  return bytesToHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text))))
}

it('a push sends it to the shop in hex, signed with the secret', async () => {
  const path = `/push-${crypto.randomUUID()}`
  const { env } = await shopWith((event) => ({
    ...{ integration: integrationFor(event), push_url: `${edgeEnv.ORIGIN_URL}${path}?__push_queueit_config` },
  }))
  await stub(path, 200, 'Success!')
  expect((await call('/q/acme/push', { method: 'POST', ...withKey }, env)).status).toBe(204)
  const [request] = (await requestsTo(path)).requests
  expect([request?.method, request?.query]).toEqual(['PUT', '__push_queueit_config'])
  const { integrationInfo, hash } = JSON.parse(request?.body ?? '')
  expect(hash).toBe(await signed(integrationInfo))
  const pulled = await (await call(PULL, withKey, env)).text()
  expect(new TextDecoder().decode(hexToBytes(integrationInfo))).toBe(pulled)
  await stub(path, 400, 'Fail!')
  const failed = await call('/q/acme/push', { method: 'POST', ...withKey }, env)
  expect([failed.status, await failed.json()]).toMatchObject([503, { type: '/problems/try-again' }])
})

it('a shop without a configuration, or without an address to push to, has none here', async () => {
  const { env } = await shopWith(() => ({}))
  expect((await call(PULL, withKey, env)).status).toBe(404)
  expect((await call('/q/acme/push', { method: 'POST', ...withKey }, env)).status).toBe(404)
})

it('an operator opens the diagnostics of a connector, which let nobody in', async () => {
  const { env, event } = await shopWith(() => ({}))
  const path = `/q/acme/debug?t=${encodeURIComponent('https://shop.example/basket?a=1')}`
  expect((await call(path, {}, env)).status).toBe(401)
  const { url } = await (await call(path, withKey, env)).json<{ url: string }>()
  expect(url).toMatch(/^https:\/\/shop\.example\/basket\?a=1&queueittoken=/)
  const visitor = new ShopVisitor(event)
  const held = await visitor.open(url)
  expect(pathOfRedirect(held)).toMatch(/^\/q\/acme\/\?c=acme/)
  expect([...visitor.cookies].join()).toMatch(/queueitdebug,.*SdkVersion=javascript-5.0.1/)
  const evil = `/q/acme/debug?t=${encodeURIComponent('https://evil.example/')}`
  expect((await call(evil, withKey, env)).status).toBe(400)
})

// -- Apps ------------------------------------------------------------------------------------------------------------

const enqueue = (event: string, env: typeof edgeEnv, body: object) =>
  call(
    `/q/acme/api/mobileapp/queue/acme/${event}/enqueue?userId=one`,
    { method: 'POST', body: JSON.stringify(body) },
    env,
  )

const APP = { userId: 'one', userAgent: 'an app', sdkVersion: 'Android-2.1.3', layoutName: null, language: 'de-DE' }

it('an app gets the address of the room, which its web view opens', async () => {
  const { env, event } = await shopWith(() => ({}))
  const answer = await (await enqueue(event, env, APP)).json<Record<string, string>>()
  expect(answer).toEqual({
    ...{ QueueId: null, QueueUrlTTLInMinutes: 0, EventTargetUrl: 'https://shop.example/', QueueitToken: null },
    QueueUrl: expect.stringMatching(/^http:\/\/edge\.test\/q\/acme\/\?/),
  })
  const path = pathOfRedirect({ redirectUrl: answer.QueueUrl ?? '' })
  expect((await call(path, {}, env)).headers.get('location')).toBe(`/sales/${event}?lang=de`)
})

it('an app passes without waiting once the event is over', async () => {
  const { sale, env, event } = await shopWith(() => ({}))
  await sale.publish({ phase: 'ended' })
  await sale.push()
  await sale.until(({ phase }) => phase === 'ended')
  const answer = await (await enqueue(event, env, APP)).json<Record<string, string>>()
  expect(answer).toMatchObject({ QueueId: expect.any(String), QueueUrl: null })
  const headers = { 'x-queueittoken': answer.QueueitToken ?? '' }
  expect((await new ShopVisitor(event).open('https://shop.example/api', { headers })).doRedirect()).toBe(false)
})

it('an app needs the shop’s enqueue token where the shop requires one', async () => {
  const { env, event } = await shopWith(() => ({ enqueue_token: 'required' }))
  expect((await enqueue(event, env, APP)).status).toBe(403)
  const enqueueToken = Token.Enqueue('acme').WithEventId(event).WithValidity(60_000).Generate(SECRET).Token
  const { QueueUrl = '' } = await (await enqueue(event, env, { ...APP, enqueueToken })).json<Record<string, string>>()
  expect((await call(pathOfRedirect({ redirectUrl: QueueUrl }), {}, env)).headers.get('location')).toBe(
    `/sales/${event}?lang=de`,
  )
  expect((await enqueue('other', env, APP)).status).toBe(404)
  expect((await enqueue(event, env, { ...APP, language: 7 })).status).toBe(422)
})
