/** Enqueue tokens as Queue-it's own package makes them. */
import { Payload, Token } from '@queue-it/queue-token'
import { expect, it } from 'vitest'
import { SECRET } from './connector-shop.ts'
import { isEnqueueToken } from './enqueue-token.ts'

const MINUTE_MS = 60_000
const expected = () => ({ customer: 'acme', event: 'drop', secret: SECRET, nowMs: Date.now() })
const payload = Payload.Enqueue().WithKey('a-key').WithRelativeQuality(0.5).WithCustomData('size', '43 ½').Generate()
const made = () => Token.Enqueue('acme', 'prefix').WithPayload(payload).WithEventId('drop')
const full = () => made().WithIpAddress('192.0.2.1', '10.0.0.1').WithValidity(MINUTE_MS).Generate(SECRET).Token

it('a token of the package is accepted: with all it can have, for any event, without an end', async () => {
  for (const token of [
    full(),
    Token.Enqueue('acme').Generate(SECRET).Token,
    made()
      .WithValidityDate(new Date(Date.now() + MINUTE_MS))
      .Generate(SECRET).Token,
  ])
    expect(await isEnqueueToken(token, expected())).toBe(true)
  expect(await isEnqueueToken(full(), { ...expected(), address: '192.0.2.1' })).toBe(true)
})

it.each<readonly [what: string, changed: Partial<ReturnType<typeof expected> & { address: string }>]>([
  ['another customer', { customer: 'other' }],
  ['another event', { event: 'other' }],
  ['another secret', { secret: SECRET.replace('e', 'f') }],
  ['another address, if it is bound to one', { address: '192.0.2.9' }],
  ['after its end', { nowMs: Date.now() + 2 * MINUTE_MS }],
  ['before it was made', { nowMs: Date.now() - 2 * MINUTE_MS }],
])('a token is refused for %s', async (_, changed) => {
  expect(await isEnqueueToken(full(), { ...expected(), ...changed })).toBe(false)
})

it('a token without an end is refused after a day', async () => {
  const token = Token.Enqueue('acme').Generate(SECRET).Token
  const after = (hours: number) => ({ ...expected(), nowMs: Date.now() + hours * 60 * MINUTE_MS })
  expect([await isEnqueueToken(token, after(23)), await isEnqueueToken(token, after(25))]).toEqual([true, false])
})

it('a text that is no token, or was changed anywhere, is refused', async () => {
  const token = full()
  for (const text of ['', '.', '..', 'a.b', 'a.b.c', `${token}.`, `${token}.x`, 'x'.repeat(5_000), '%', 'é.é.é'])
    expect(await isEnqueueToken(text, expected()), text).toBe(false)
  for (const at of [...token].keys()) {
    const changed = token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)
    // The last character of the hash has bits that mean nothing, so it is compared as text.
    expect(await isEnqueueToken(changed, expected()), changed).toBe(false)
  }
})
