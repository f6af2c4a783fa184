import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseCart } from './cart-choice.ts'
import { Chart, type Seat } from './chart.ts'
import { choose, Free, nearest, stranded, type Wish } from './choice.ts'

const FOCAL_POINT = { x: 0, y: 0 }
const KIND_OF_LETTER = { s: 'standard', a: 'accessible', c: 'companion', r: 'restricted_view' } as const

/**
 * A row in letters: the kind of each seat, a capital for a taken one, a space for an aisle. Centred, the focal point
 * before it.
 */
interface RowPlan {
  readonly section: string
  readonly letters: string
  readonly category?: string
}

function hall(rows: readonly RowPlan[]) {
  const seats: Seat[] = []
  const taken: number[] = []
  for (const [y, { section, letters, category = 'A' }] of rows.entries())
    for (const [place, letter] of [...letters].entries()) {
      if (letter === ' ') continue
      if (letter !== letter.toLowerCase()) taken.push(seats.length)
      seats.push({
        index: seats.length,
        section,
        seat: `${y + 1}-${place + 1}`,
        row: `${y + 1}`,
        number: `${place + 1}`,
        place,
        x: 2 * place - (letters.length - 1),
        y: 2 * (y + 1),
        category,
        kind: KIND_OF_LETTER[letter.toLowerCase() as keyof typeof KIND_OF_LETTER],
        priceMinor: 5_000,
      })
    }
  const chart = new Chart(seats, FOCAL_POINT)
  return { seats, chart, bits: bitsOf(seats.length, taken), free: new Free(chart, bitsOf(seats.length, taken)) }
}

function bitsOf(length: number, taken: Iterable<number>): Uint8Array {
  const bits = new Uint8Array(Math.ceil(length / 8))
  for (const index of taken) bits[index >> 3] = (bits[index >> 3] ?? 0) | (0x80 >> (index & 7))
  return bits
}

const party = (quantity: number, more: Partial<Wish> = {}): Wish => ({
  quantity,
  together: true,
  accessible: false,
  ...more,
})
const names = (seats: readonly Seat[] | null) => seats?.map(({ seat }) => seat) ?? null
const row = (letters: string, section = 'stalls') => ({ section, letters })

// What holds of any choice is shown below, of random halls.
describe('the best available seats', () => {
  it.each<[what: string, rows: RowPlan[], wish: Wish, seats: string[]]>([
    ['are the middle pair of the front row', [row('ssssssss'), row('ssssssss')], party(2), ['1-4', '1-5']],
    [
      'seat a family of five in two rows, three and two, one behind the other',
      [row('SssssSSSS'), row('SssssSSSS'), row('SSSSSssss')],
      party(5),
      ['1-3', '1-4', '1-5', '2-4', '2-5'],
    ],
    [
      'seat a party of four in two pairs of one section before two sections',
      [row('ssSS', 'left'), row('ssSS', 'right'), row('SSSS'), row('ssSSss', 'back')],
      party(4),
      ['4-1', '4-2', '4-5', '4-6'],
    ],
    ['have a restricted view before a farther ring', [row('rr'), row('ss')], party(1), ['1-1']],
    [
      'have a restricted view only after the others of their ring',
      [row('ssrrss'), ...Array.from({ length: 20 }, () => row('ssssss'))],
      party(2),
      ['2-3', '2-4'],
    ],
    [
      'are the nearest ones, each by itself, for those who need not sit together',
      [row('SsSsS'), row('sssss')],
      party(2, { together: false }),
      ['1-2', '1-4'],
    ],
    [
      'leave nobody of a party with a wheelchair user alone where the others find seats in groups',
      [row('SSSaSSS'), row('SSacSSS'), row('SSsssSS')],
      party(4, { accessible: true }),
      ['2-3', '2-4', '3-3', '3-4'],
    ],
  ])('%s', (_, rows, wish, seats) => {
    const { chart, free } = hall(rows)
    expect(names(choose(chart, free, wish))).toEqual(seats)
  })

  it('seat a wheelchair user with a companion beside', () => {
    const { chart, free } = hall([row('ssssss'), row('ssacss'), row('caccss')])
    expect(names(choose(chart, free, party(2, { accessible: true })))).toEqual(['2-3', '2-4'])
    expect(names(choose(chart, free, party(3, { accessible: true })))).toEqual(['3-1', '3-2', '3-3'])
    free.take(chart.seats.filter(({ kind }) => kind === 'companion').map(({ index }) => index))
    expect(names(choose(chart, free, party(2, { accessible: true })))).toEqual(['2-2', '2-3'])
  })

  it('keep accessible and companion seats until nothing else is left', () => {
    const { chart, free } = hall([row('acac'), row('ss')])
    const first = choose(chart, free, party(2)) ?? []
    expect(names(first)).toEqual(['2-1', '2-2'])
    free.take(first.map(({ index }) => index))
    expect(names(choose(chart, free, party(1)))).toEqual(['1-4'])
  })

  it('are never of nobody', () => {
    const { chart, free } = hall([row('ss')])
    expect(() => choose(chart, free, party(0))).toThrow(RangeError)
  })
})

describe('the nearest seats', () => {
  it('are the neighbours beside a taken pair that strand nobody', () => {
    const { chart, seats, free } = hall([row('ssssSSssss'), row('ssssssssss')])
    const pair = seats.filter(({ row, place }) => row === '1' && (place === 4 || place === 5))
    expect(names(nearest(chart, free, pair))).toEqual(['2-5', '2-6'])
    free.take(seats.filter(({ row }) => row === '2').map(({ index }) => index))
    expect(names(nearest(chart, free, pair))).toEqual(['1-3', '1-4'])
  })

  it('are offered to a wheelchair user and companion as such a pair', () => {
    const { chart, seats, free } = hall([row('ssACss'), row('ssssss'), row('scassa')])
    const pair = seats.filter(({ kind, row }) => row === '1' && kind !== 'standard')
    expect(names(nearest(chart, free, pair))).toEqual(['3-2', '3-3'])
  })

  it('keep those of separate seats that are still free', () => {
    const { chart, seats, free } = hall([row('sSsssss')])
    const wanted = [seats[1] as Seat, seats[6] as Seat]
    expect(names(nearest(chart, free, wanted))).toEqual(['1-7', '1-1'])
  })
})

describe('stranded seats', () => {
  it('are single free seats that were not single before', () => {
    const { chart, seats, free } = hall([row('sssss sS'), row('sSsss')])
    const stranding = (...indexes: number[]) =>
      names(
        stranded(
          chart,
          free,
          indexes.map((index) => seats[index] as Seat),
        ),
      )
    expect(stranding(1, 2)).toEqual(['1-1'])
    expect(stranding(0, 1)).toEqual([])
    expect(stranding(1, 3)).toEqual(['1-1', '1-3', '1-5'])
    // 2-1 was single before; an aisle and a row end bound 1-7.
    expect(stranding(9, 10, 11)).toEqual([])
    expect(stranding(5)).toEqual([])
  })
})

describe('a chart', () => {
  it('finds its seats by bit and by name', () => {
    const { chart, seats } = hall([row('ss'), row('s', 'circle')])
    expect(chart.at(2)).toBe(seats[2])
    expect(chart.find('circle', '2-1')).toBe(seats[2])
    expect([chart.at(3), chart.find('circle', '1-1')]).toEqual([undefined, undefined])
  })

  it('refuses two seats of one bit or one name', () => {
    const { seats } = hall([row('ss')])
    const [a, b] = seats as [Seat, Seat]
    expect(() => new Chart([a, { ...b, index: a.index }], FOCAL_POINT)).toThrow(RangeError)
    expect(() => new Chart([a, { ...b, seat: a.seat }], FOCAL_POINT)).toThrow(RangeError)
  })
})

const letters = fc
  .array(fc.constantFrom(...'ssssssSSSSrRaAcC '), { minLength: 1, maxLength: 12 })
  .map((row) => row.join(''))
const plans = fc.array(
  fc.record({ section: fc.constantFrom('left', 'right'), letters, category: fc.constantFrom('A', 'A', 'B') }),
  { minLength: 1, maxLength: 6 },
)
const wishes: fc.Arbitrary<Wish> = fc.record({
  section: fc.constantFrom(undefined, undefined, 'left', 'right'),
  category: fc.constantFrom(undefined, undefined, 'A', 'B'),
  quantity: fc.integer({ min: 1, max: 8 }),
  together: fc.boolean(),
  accessible: fc.constantFrom(false, false, true),
})
const KEPT = ['accessible', 'companion']

/** Free seats that a wish may get; without `accessible` those kept for others only if the rest does not suffice. */
function matching(free: Free, seats: readonly Seat[], wish: Wish): Seat[] {
  const all = seats.filter(
    (seat) =>
      free.isFree(seat) &&
      (wish.section ?? seat.section) === seat.section &&
      (wish.category ?? seat.category) === seat.category,
  )
  const ordinary = all.filter(({ kind }) => !KEPT.includes(kind))
  return wish.accessible || ordinary.length < wish.quantity ? all : ordinary
}

const isBeside = (a: Seat, b: Seat) => a.section === b.section && a.row === b.row && Math.abs(a.place - b.place) === 1

/** Runs of neighbours among seats, by place. */
function runsOf(seats: readonly Seat[]): Seat[][] {
  const runs: Seat[][] = []
  const sorted = seats.toSorted((a, b) => Number(a.row) - Number(b.row) || a.place - b.place)
  for (const seat of sorted) {
    const before = runs.at(-1)?.at(-1)
    if (before && isBeside(before, seat)) runs.at(-1)?.push(seat)
    else runs.push([seat])
  }
  return runs
}

/** Every group of so many neighbours. */
function groupsOf(seats: readonly Seat[], size: number): Seat[][] {
  return runsOf(seats).flatMap((run) =>
    Array.from({ length: Math.max(0, run.length - size + 1) }, (_, i) => run.slice(i, i + size)),
  )
}

/**
 * The fewest groups of two and more that a party can sit in, by trying every size for each run; Infinity if there are
 * none.
 */
function fewestGroups(lengths: readonly number[], people: number): number {
  if (people === 0) return 0
  const [length, ...others] = lengths
  if (length === undefined) return Infinity
  let fewest = fewestGroups(others, people)
  for (let size = 2; size <= Math.min(length, people); size++)
    fewest = Math.min(fewest, 1 + fewestGroups(others, people - size))
  return fewest
}

const lengthsOf = (seats: readonly Seat[]) => runsOf(seats).map(({ length }) => length)
const meanSquare = (seats: readonly Seat[]) => seats.reduce((sum, { x, y }) => sum + x * x + y * y, 0) / seats.length
const check = (holds: (rows: RowPlan[], wish: Wish) => void, runs = 150) =>
  fc.assert(fc.property(plans, wishes, holds), { numRuns: runs })

describe('any choice', () => {
  it('is as many different free seats as were asked for, of the section, category and kinds wanted', () => {
    check((rows, wish) => {
      const { chart, seats, free } = hall(rows)
      const chosen = choose(chart, free, wish)
      if (!chosen) return
      expect(new Set(chosen.map(({ index }) => index)).size).toBe(wish.quantity)
      expect(chosen).toHaveLength(wish.quantity)
      const allowed = new Set(matching(free, seats, wish))
      expect(chosen.filter((seat) => !allowed.has(seat))).toEqual([])
      if (wish.accessible) expect(chosen.map(({ kind }) => kind)).toContain('accessible')
    })
  })

  it('is null only if fewer matching seats are free, or no accessible one where one is needed', () => {
    check((rows, wish) => {
      const { chart, seats, free } = hall(rows)
      const all = matching(free, seats, wish)
      const possible =
        all.length >= wish.quantity && (!wish.accessible || all.some(({ kind }) => kind === 'accessible'))
      expect(choose(chart, free, wish) !== null).toBe(possible)
    })
  })

  it('is one group of neighbours where there is one, stranding nobody where that can be, and the nearest such', () => {
    check((rows, wish) => {
      const { chart, seats, free } = hall(rows)
      if (!wish.together && !wish.accessible) return
      const all = matching(free, seats, wish)
      const hasAccessible = (group: readonly Seat[]) => group.some(({ kind }) => kind === 'accessible')
      const groups = groupsOf(all, wish.quantity).filter((group) => !wish.accessible || hasAccessible(group))
      if (groups.length === 0) return
      const chosen = choose(chart, free, wish) ?? []
      expect(lengthsOf(chosen)).toEqual([wish.quantity])
      const clean = groups.filter((group) => stranded(chart, free, group).length === 0)
      if (clean.length > 0) expect(stranded(chart, free, chosen)).toEqual([])
      // Surcharges change the order where other kinds than standard are in the pool.
      if (all.some(({ kind }) => kind !== 'standard')) return
      const least = Math.min(...(clean.length > 0 ? clean : groups).map(meanSquare))
      expect(meanSquare(chosen)).toBeCloseTo(least, 9)
    }, 3_000)
  })

  it('is in the fewest groups with nobody alone: of one section if one has room, otherwise of all', () => {
    check((rows, wish) => {
      if (!wish.together || wish.accessible) return
      const { chart, seats, free } = hall(rows)
      const all = matching(free, seats, wish)
      if (all.length < wish.quantity) return
      const needs = (section?: string) =>
        fewestGroups(lengthsOf(all.filter((seat) => seat.section === (section ?? seat.section))), wish.quantity)
      const inOne = Math.min(needs('left'), needs('right'))
      const groups = lengthsOf(choose(chart, free, wish) ?? [])
      const expected = inOne < Infinity ? inOne : needs()
      if (wish.quantity > 1 && expected < Infinity) {
        expect(groups).toHaveLength(expected)
        expect(Math.min(...groups)).toBeGreaterThan(1)
        return
      }
      // The smallest number of people sit alone: the largest part of the party that can sit in groups does so.
      let inGroups = wish.quantity
      while (fewestGroups(lengthsOf(all), inGroups) === Infinity) inGroups--
      const alone = groups.filter((length) => length === 1).length
      expect(alone).toBeLessThanOrEqual(wish.quantity - inGroups)
    }, 3_000)
  })

  it('is the same in another process, and leaves the free seats as they are', () => {
    check((rows, wish) => {
      const { chart, seats, bits, free } = hall(rows)
      const chosen = names(choose(chart, free, wish))
      expect(names(choose(chart, free, wish))).toEqual(chosen)
      const other = new Chart(seats.toReversed(), FOCAL_POINT)
      const stretchSeats = (chart: Chart) => chart.seats.map(({ index }) => index)
      expect(stretchSeats(other)).toEqual(stretchSeats(chart))
      expect(names(choose(other, new Free(other, bits), wish))).toEqual(chosen)
      expect(free.open).toEqual(new Free(chart, bits).open)
    })
  })

  it('is the same from free seats that are brought up to date as from those made anew', () => {
    const batch = fc.record({
      taken: fc.uniqueArray(fc.nat(71), { maxLength: 40 }),
      wishes: fc.array(wishes, { maxLength: 4 }),
    })
    fc.assert(
      fc.property(plans, fc.array(batch, { minLength: 1, maxLength: 6 }), (rows, batches) => {
        const { chart, seats, free } = hall(rows)
        for (const { taken, wishes } of batches) {
          // Beyond the end, too: the bitmap of another version of the chart.
          const bits = bitsOf(80, taken)
          free.update(bits)
          const fresh = new Free(chart, bits)
          for (const wish of wishes) {
            const chosen = choose(chart, fresh, wish)
            expect(names(choose(chart, free, wish))).toEqual(names(chosen))
            // The next bitmap frees some of these seats again.
            for (const one of [free, fresh]) one.take((chosen ?? []).map(({ index }) => index))
          }
          expect([free.open, free.longest, free.least]).toEqual([fresh.open, fresh.longest, fresh.least])
          expect(seats.map((seat) => free.isFree(seat))).toEqual(seats.map((seat) => fresh.isFree(seat)))
        }
      }),
      { numRuns: 100 },
    )
  })

  it('sells every seat of a hall once, one random wish after another', () => {
    fc.assert(
      fc.property(plans, fc.array(wishes, { minLength: 10, maxLength: 60 }), (rows, list) => {
        const { chart, seats, free } = hall(rows)
        const sold = new Set(seats.filter((seat) => !free.isFree(seat)))
        const sell = (wish: Wish) => {
          const chosen = choose(chart, free, wish)
          for (const seat of chosen ?? []) {
            expect(sold.has(seat)).toBe(false)
            sold.add(seat)
          }
          free.take((chosen ?? []).map(({ index }) => index))
          return chosen
        }
        for (const wish of list) {
          sell(wish)
          const indexes = Array.from(sold, ({ index }) => index)
          const fresh = new Free(chart, bitsOf(seats.length, indexes))
          expect([free.open, free.longest, free.least]).toEqual([fresh.open, fresh.longest, fresh.least])
        }
        while (sell(party(1)));
        expect(sold.size).toBe(seats.length)
      }),
      { numRuns: 75 },
    )
  })
})

it('never are seats that the cart names', () => {
  const { chart, free } = hall([row('ss')])
  const named = { product: 'stalls', quantity: 1, seats: [0] }
  expect(chooseCart({ chart, wants: [named, { wish: party(2) }] }, free)).toEqual([])
})

describe('any offer', () => {
  const wanted = fc.array(fc.nat(71), { minLength: 1, maxLength: 5 })
  const kinds = (seats: readonly Seat[]) => seats.map(({ category, kind }) => `${category} ${kind}`).sort()

  it('is as many free seats of the same kinds, and null only if fewer are free', () => {
    fc.assert(
      fc.property(plans, wanted, fc.boolean(), (rows, picks, sideBySide) => {
        const { chart, seats, free } = hall(rows)
        if (seats.length === 0) return
        const at = (pick: number) => seats[pick % seats.length] as Seat
        const some = sideBySide
          ? (groupsOf(seats, picks.length)[picks[0] as number] ?? [at(picks[0] as number)])
          : [...new Set(picks.map(at))]
        const offer = nearest(chart, free, some)
        const freeKinds = kinds(seats.filter((seat) => free.isFree(seat)))
        const missing = kinds(some).filter((kind) => {
          const found = freeKinds.indexOf(kind)
          if (found >= 0) freeKinds.splice(found, 1)
          return found < 0
        })
        expect(offer === null).toBe(missing.length > 0)
        if (!offer) return
        expect(kinds(offer)).toEqual(kinds(some))
        expect(offer.every((seat) => free.isFree(seat))).toBe(true)
        expect(new Set(offer).size).toBe(some.length)
        if (!sideBySide) return
        const sameKinds = (group: readonly Seat[]) => kinds(group).join() === kinds(some).join()
        const groups = groupsOf(
          seats.filter((seat) => free.isFree(seat)),
          some.length,
        ).filter(sameKinds)
        if (groups.length === 0) return
        expect(lengthsOf(offer)).toEqual([some.length])
        const x = some.reduce((sum, seat) => sum + seat.x, 0) / some.length
        const y = some.reduce((sum, seat) => sum + seat.y, 0) / some.length
        const away = (group: readonly Seat[]) =>
          group.reduce((sum, seat) => sum + (seat.x - x) ** 2 + (seat.y - y) ** 2, 0)
        if (some.every(({ kind }) => kind !== 'restricted_view'))
          expect(away(offer)).toBeCloseTo(Math.min(...groups.map(away)), 6)
      }),
      { numRuns: 200 },
    )
  })
})
