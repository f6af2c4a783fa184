import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DemoShop, startDemoShop } from '../../../dev/servers/demo-shop.ts'
import { networksOf } from '../../../edge/http/limits/networks.ts'
import { seededRandom } from '../../../shared/lib/random.ts'
import { botAddress, homeAddress, Issuer } from './identities.ts'

let shop: DemoShop
beforeAll(async () => {
  shop = await startDemoShop()
})
afterAll(() => shop.stop())

const issuerOf = (changes: object = {}) =>
  new Issuer({
    ...{ kind: 'accounts', shop, limits: true, visitors: 10, botIdentities: 1, botNetworks: 4 },
    ...changes,
  } as ConstructorParameters<typeof Issuer>[0])

const sizes = (addresses: string[], tier: number) =>
  [...Map.groupBy(addresses, (address) => networksOf(address)[tier]).values()].map(({ length }) => length)

test('nine visitors in ten have a network of their own, the tenth shares an address with nineteen others', () => {
  const addresses = Array.from({ length: 4_000 }, (_, id) => homeAddress(id))
  expect(new Set(addresses).size).toBe(3_600 + 400 / 20)
  expect(Math.max(...sizes(addresses, 0))).toBe(20)
  expect(Math.max(...sizes(addresses, 1))).toBe(80)
})

test('bots have as many networks as they were given, and many addresses in each', () => {
  const random = seededRandom(1)
  const addresses = Array.from({ length: 2_000 }, (_, i) => botAddress(i % 4, random))
  const largest = addresses.map((address) => networksOf(address).at(-1))
  expect(new Set(largest).size).toBe(4)
  expect(new Set(addresses.map((address) => networksOf(address)[0])).size).toBeGreaterThan(1_000)
})

test('an account has a session that the shop’s keys verify, the same for all calls of one visitor', async () => {
  const identities = issuerOf()
  const [address, session = ''] = identities.ofVisitor(3).headers
  expect(address).toBe(`cf-connecting-ip: ${homeAddress(3)}`)
  const { SHOP_JWKS_URL = '', SHOP_ISSUER: issuer = '', SHOP_AUDIENCE: audience = '' } = shop.vars
  const token = session.replace('x-shop-authorization: Bearer ', '')
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(SHOP_JWKS_URL)), { issuer, audience })
  expect(payload.sub).toBe('visitor-3')
  expect(identities.ofVisitor(3)).toBe(identities.ofVisitor(3))
})

test('bots of one attack share the few invitations that it has', () => {
  const identities = issuerOf({ kind: 'invitations', shop: undefined, botIdentities: 2 })
  const codes = new Set(Array.from({ length: 9 }, (_, i) => identities.ofBot('squat', i, Math.random).invitation))
  expect(codes.size).toBe(2)
  const all = [...identities.invitations(['squat', 'stuff'])]
  expect(all.length).toBe(10 + 2 * 2)
  expect(new Set(all).size).toBe(all.length)
  for (const code of codes) expect(all).toContain(code)
})
