import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judged, type NetworkFigures } from './honest-share.ts'

const home: NetworkFigures = { asn: 3320, joined: 1_000, unproved: 30, views: 2_400, units: 80 }
const rented: NetworkFigures = { asn: 16276, joined: 900, unproved: 0, views: 12, units: 15 }
const mining: NetworkFigures = { asn: 64500, joined: 40, unproved: 700, views: 90, units: 5 }
const few: NetworkFigures = { asn: 64501, joined: 3, unproved: 0, views: 0, units: 2 }

test('networks whose joins come without pages or proofs are left out, the largest first', () => {
  expect(judged([home, mining, rented, few])).toEqual({
    units: 102,
    outside: 82,
    scripted: [
      { network: 'AS16276', joined: 900, unproved: 0, views: 12, units: 15 },
      { network: 'AS64500', joined: 40, unproved: 700, views: 90, units: 5 },
    ],
  })
})

test('says nothing where nothing is known: no networks, no sales, no pages that count views', () => {
  expect(judged([])).toBeNull()
  expect(judged([{ ...home, units: 0 }])).toBeNull()
  expect(judged([{ ...home, views: 0 }])).toBeNull()
})

test('never counts more than was sold', () => {
  const figure = fc.nat(1_000)
  const network = fc.record({ asn: fc.nat(), joined: figure, unproved: figure, views: figure, units: figure })
  fc.assert(
    fc.property(fc.array(network), (networks) => {
      const share = judged(networks)
      if (share) expect(share.outside).toBeGreaterThanOrEqual(0)
      if (share) expect(share.outside).toBeLessThanOrEqual(share.units)
    }),
  )
})
