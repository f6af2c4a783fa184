/** The token as Queue-it's own connector reads it. */
import { expect, it } from 'vitest'
import { SECRET, ShopVisitor } from './connector-shop.ts'
import { type KnownUser, knownUserToken } from './known-user-token.ts'

const PAGE = 'https://shop.example/checkout'
const soon = () => Math.floor(Date.now() / 1000) + 60
const passing = (): KnownUser => ({ event: 'drop', untilSeconds: soon(), redirectType: 'queue' })
const user = (): KnownUser => ({ ...passing(), queueId: 'place-1' })
const urlWith = (token: string) => `${PAGE}?queueittoken=${token}`

it.each<readonly [what: string, user: KnownUser, address: string]>([
  ['of a place', user(), '192.0.2.1'],
  ['bound to the caller’s address', { ...user(), address: '192.0.2.1' }, '192.0.2.1'],
  ['bound to an address of IPv6', { ...user(), address: '2001:db8::1' }, '2001:db8::1'],
  ['after the event, without a place', { ...passing(), redirectType: 'afterevent', cookieMinutes: 3 }, '192.0.2.1'],
])('a token %s lets its visitor in, and by the cookie afterwards', async (_, user, address) => {
  const visitor = new ShopVisitor('drop')
  const passed = await visitor.open(urlWith(knownUserToken(user, SECRET)), { address })
  expect([passed.doRedirect(), passed.queueId, passed.redirectType]).toEqual([false, user.queueId, user.redirectType])
  const again = await visitor.open(PAGE, { address })
  expect([again.doRedirect(), again.queueId]).toEqual([false, user.queueId ?? ''])
})

it('a token in the header lets its visitor in too', async () => {
  const headers = { 'x-queueittoken': knownUserToken(user(), SECRET) }
  expect((await new ShopVisitor('drop').open(PAGE, { headers })).doRedirect()).toBe(false)
})

it.each<readonly [cause: string, changed: Partial<KnownUser>, secret: string, event: string]>([
  ['hash', {}, SECRET.replace('e', 'f'), 'drop'],
  ['eventid', {}, SECRET, 'other'],
  ['timestamp', { untilSeconds: 1 }, SECRET, 'drop'],
  ['ip', { address: '192.0.2.9' }, SECRET, 'drop'],
])('a connector that refuses a token names the cause: %s', async (cause, changed, secret, event) => {
  const refused = await new ShopVisitor(event).open(urlWith(knownUserToken({ ...user(), ...changed }, secret)))
  expect(new URL(refused.redirectUrl).pathname).toBe(`/q/acme/error/${cause}/`)
})

it('a text with another character in any part is refused', async () => {
  const token = knownUserToken({ ...user(), address: '192.0.2.1', cookieMinutes: 5 }, SECRET)
  for (const at of [...token].keys()) {
    const changed = token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)
    expect((await new ShopVisitor('drop').open(urlWith(changed))).doRedirect(), changed).toBe(true)
  }
})

it('the cookie of a token with minutes ends then, and other cookies are extended', async () => {
  const fixed = new ShopVisitor('drop')
  await fixed.open(urlWith(knownUserToken({ ...user(), cookieMinutes: 3 }, SECRET)))
  expect([...fixed.cookies.values()][0]).toContain('FixedValidityMins=3')
  const extended = new ShopVisitor('drop')
  await extended.open(urlWith(knownUserToken(user(), SECRET)))
  expect([...extended.cookies.values()][0]).not.toContain('FixedValidityMins')
})
