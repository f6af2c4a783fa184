import { expect, test } from 'vitest'
import { bitsOf } from './bits.ts'
import { Chart, type Seat } from './chart.ts'
import { Offers } from './offers.ts'

/** One row of ten seats before the stage. */
const seats = Array.from(Array(10).keys(), (i): Seat => {
  const [seat, kind] = [String(i), 'standard' as const]
  return {
    index: i,
    section: 'stalls',
    seat,
    row: '1',
    number: seat,
    place: i,
    x: i,
    y: 1,
    category: 'A',
    kind,
    priceMinor: 1,
  }
})
const chart = new Chart(seats, { x: 0, y: 0 })
const named = (...indexes: number[]) => indexes.map((index) => seats[index] as Seat)

test('many who name the same seats share one read and one offer', async () => {
  let reads = 0
  const offers = new Offers(async () => {
    reads++
    return bitsOf([4, 5])
  })
  const all = await Promise.all(Array.from({ length: 5 }, () => offers.of(chart, named(4, 5), [4, 5])))
  expect(all.map((offer) => offer?.map(({ index }) => index))).toEqual(all.map(() => [2, 3]))
  expect(reads).toBe(1)
})

test('an offer never has a seat that its caller was refused a moment before', async () => {
  const taken = [4]
  const offers = new Offers(async () => bitsOf(taken))
  expect(await offers.of(chart, named(4), [4])).toMatchObject([{ index: 3 }])
  taken.push(3)
  expect(await offers.of(chart, named(3), [3])).toMatchObject([{ index: 2 }])
  taken.push(2)
  // Both are taken by now; only one of them was refused.
  expect(await offers.of(chart, named(2, 5), [2])).toMatchObject([{ index: 5 }, { index: 1 }])
})

test('without the bitmap there is no offer, and the next caller asks again', async () => {
  let fails = true
  const offers = new Offers(async () => {
    if (fails) throw new Error('away')
    return bitsOf([0])
  })
  await expect(offers.of(chart, named(0), [0])).rejects.toThrow('away')
  fails = false
  expect(await offers.of(chart, named(0), [0])).toMatchObject([{ index: 1 }])
})
