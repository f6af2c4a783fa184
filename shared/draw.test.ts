import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commitmentHolds, commitmentOf, permute, positionOf, positionsOf } from './draw.ts'

const key32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const hex = (bytes: Uint8Array) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')

/** The upper bound of a chi-square statistic with `freedom` degrees at about p = 1e-6 (Wilson-Hilferty, z = 4.75). */
function chiSquareBound(freedom: number): number {
  const spread = 2 / (9 * freedom)
  return freedom * (1 - spread + 4.75 * Math.sqrt(spread)) ** 3
}

describe('the draw', () => {
  it('gives every number of the pre-queue its own position, whatever key and size', () => {
    const isBijection = (key: Uint8Array, size: number) => {
      const known = new Map<number, number>()
      const seen = new Set(Array.from({ length: size }, (_, index) => permute(key, size, index, known)))
      return seen.size === size && [...seen].every((value) => value >= 0 && value < size)
    }
    const sizes = fc.oneof(fc.constantFrom(1, 2, 3, 63, 64, 65, 256, 257, 4_099), fc.integer({ min: 1, max: 120 }))
    fc.assert(fc.property(key32, sizes, isBijection), { numRuns: 40 })
    expect(isBijection(new Uint8Array(32).fill(7), 50_000)).toBe(true)
  })

  it('gives each number each position equally often over many seeds', () => {
    for (const size of [2, 3, 7, 20]) {
      const rounds = 400
      const hits = new Uint32Array(size * size)
      for (let seed = 0; seed < rounds; seed++) {
        const key = new Uint8Array(32)
        new DataView(key.buffer).setUint32(0, seed)
        const known = new Map<number, number>()
        for (let index = 0; index < size; index++) {
          const cell = index * size + permute(key, size, index, known)
          hits[cell] = (hits[cell] ?? 0) + 1
        }
      }
      const expected = rounds / size
      for (let index = 0; index < size; index++) {
        const row = hits.subarray(index * size, (index + 1) * size)
        const statistic = row.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
        expect(statistic, `number ${index + 1} of ${size}`).toBeLessThan(chiSquareBound(size - 1))
      }
    }
  })

  it('gives many numbers of one draw the positions that it gives each', () => {
    for (const [size, beacon] of [[1], [100], [5_000, 'ff'.repeat(32)]] as const) {
      const draw = { seed: '07'.repeat(32), size, beacon: beacon ?? null }
      const position = positionsOf(draw)
      for (let number = 1; number <= Math.min(size, 300) + 10; number++)
        expect(position(number)).toBe(positionOf(draw, number))
      expect(() => position(0)).toThrow(RangeError)
    }
  })

  it('spreads early numbers over the whole line', () => {
    const size = 20_000
    const bins = new Float64Array(20)
    const early = 2_000
    const position = positionsOf({ seed: '5a'.repeat(32), size })
    for (let number = 1; number <= early; number++) {
      const bin = Math.floor(((position(number) - 1) / size) * bins.length)
      bins[bin] = (bins[bin] ?? 0) + 1
    }
    const expected = early / bins.length
    const statistic = bins.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
    expect(statistic).toBeLessThan(chiSquareBound(bins.length - 1))
  })

  it('leaves later numbers where they are', () => {
    fc.assert(
      fc.property(key32, fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 1, max: 1_000 }), (key, size, above) => {
        return positionOf({ seed: hex(key), size }, size + above) === size + above
      }),
    )
  })

  it('changes with the beacon', () => {
    const draw = { seed: '11'.repeat(32), size: 1_000 }
    const order = (beacon: string | null) =>
      Array.from({ length: 50 }, (_, i) => positionOf({ ...draw, beacon }, i + 1))
    expect(order('ab'.repeat(32))).not.toEqual(order(null))
    expect(order('ab'.repeat(32))).not.toEqual(order(`${'ab'.repeat(31)}ac`))
    expect(order(null)).toEqual(order(null))
  })

  it('matches the published test vectors', () => {
    const seed = `${'00'.repeat(31)}01`
    expect(commitmentOf(seed)).toBe('ec4916dd28fc4c10d78e287ca5d9cc51ee1ae73cbfde08c6b37324cbfaac8bc5')
    const positions = (size: number, beacon: string | null = null) =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((number) => positionOf({ seed, size, beacon }, number))
    expect(positions(10)).toEqual([8, 7, 2, 3, 10, 5, 9, 6, 4, 1])
    expect(positions(500_000)).toEqual([
      304_358, 102_135, 209_119, 402_860, 23_435, 288_378, 214_516, 179_635, 489_503, 338_901,
    ])
    expect(positions(10, 'ff'.repeat(32))).toEqual([4, 3, 10, 5, 9, 1, 8, 2, 6, 7])
  })

  it('throws for anything that is not a ticket number', () => {
    for (const number of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
      expect(() => positionOf({ seed: '00'.repeat(32), size: 10 }, number)).toThrow(RangeError)
    }
  })
})

describe('the commitment', () => {
  it('holds for its seed and for no other', () => {
    fc.assert(
      fc.property(key32, key32, (seed, other) => {
        const commitment = commitmentOf(hex(seed))
        expect(commitmentHolds(commitment, hex(seed))).toBe(true)
        expect(commitmentHolds(commitment, hex(other))).toBe(hex(seed) === hex(other))
      }),
    )
  })

  it('does not hold for anything that is not hex', () => {
    for (const junk of ['', 'zz', 'abc', '<script>']) expect(commitmentHolds(commitmentOf('00'), junk)).toBe(false)
  })
})
