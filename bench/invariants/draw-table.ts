/**
 * Recalculates the draw for a whole crowd. It is written from the description for auditors (docs/draw.md), not from
 * shared/draw.ts, so that a rehearsal checks one against the other. The rounds are calculated once for all values of
 * half a number (a thousand hashes per round for half a million visitors), so that a position takes ten look-ups.
 */
import { createHash } from 'node:crypto'

const ROUNDS = 10
const MIN_HALF_BITS = 3
/** The tables are for at most 2^26 numbers; tables for 2^32 would take half a gigabyte. */
const MAX_HALF_BITS = 13

interface PublicDraw {
  readonly seed: string
  readonly size: number
  readonly beacon: string | null
}

export class DrawTable {
  readonly #size: number
  readonly #halfBits: number
  readonly #rounds: Uint32Array

  constructor({ seed, size, beacon }: PublicDraw) {
    const seedBytes = Buffer.from(seed, 'hex')
    const key = beacon
      ? createHash('sha256')
          .update(Buffer.concat([seedBytes, Buffer.from(beacon, 'hex')]))
          .digest()
      : seedBytes
    let halfBits = MIN_HALF_BITS
    while (2 ** (2 * halfBits) < size) halfBits++
    if (halfBits > MAX_HALF_BITS) throw new RangeError(`a draw of ${size} is too large for a table`)
    const half = 2 ** halfBits
    this.#size = size
    this.#halfBits = halfBits
    this.#rounds = new Uint32Array(size > 0 ? ROUNDS * half : 0)
    const input = Buffer.concat([key, Buffer.alloc(5)])
    for (let at = 0; at < this.#rounds.length; at++) {
      input.writeUInt8(Math.floor(at / half), key.length)
      input.writeUInt32BE(at % half, key.length + 1)
      this.#rounds[at] = createHash('sha256').update(input).digest().readUInt32BE(0) & (half - 1)
    }
  }

  /** A number outside the draw is its own position. */
  positionOf(number: number): number {
    if (!(number >= 1 && number <= this.#size)) return number
    const half = 2 ** this.#halfBits
    let value = number - 1
    do {
      let left = value >>> this.#halfBits
      let right = value & (half - 1)
      for (let round = 0; round < ROUNDS; round++) {
        const mixed = left ^ (this.#rounds[round * half + right] ?? 0)
        left = right
        right = mixed
      }
      value = left * half + right
    } while (value >= this.#size)
    return value + 1
  }
}
