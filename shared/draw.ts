/**
 * The draw gives visitors who joined before the opening an order that nobody could choose or predict.
 *
 * It works by commit and reveal. Before the sale the edge publishes SHA-256(seed). At the opening it closes the
 * pre-queue at M numbers and reveals the seed. From then on anyone can calculate any position:
 *
 *   key      = seed                       without an announced beacon (32 bytes)
 *            = SHA-256(seed || beacon)    with one
 *   position = 1 + permute(key, M, number - 1)       for 1 <= number <= M
 *   position = number                                for number > M
 *
 * `permute` is a balanced Feistel network over 2w bits with cycle walking (Black & Rogaway, "Ciphers with Arbitrary
 * Finite Domains", 2002). It is a bijection of {0 .. M-1} that needs no table, so the Worker, the browser and an
 * auditor calculate a position in microseconds.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** Luby-Rackoff needs four rounds; eight or more leave a margin that costs only microseconds. */
const ROUNDS = 10
/** The number of bytes of a seed, and of the key made from it. */
const KEY_BYTES = 32
/** A very small pre-queue must not be permuted by a network of one-bit halves. */
const MIN_HALF_BITS = 3
/** The largest pre-queue that can be drawn, because each half of the network must fit into 26 bits. */
const MAX_DRAW_SIZE = 2 ** 52
/** A draw of 100 million has 160,000 round values in all, so all of them fit. */
const MAX_KNOWN = 200_000

/** The published commitment: hex SHA-256 of the seed's bytes. Throws if `seedHex` is not hex. */
export function commitmentOf(seedHex: string): string {
  return bytesToHex(sha256(bytesOf(seedHex)))
}

/** The library's conversion is longer, and every visitor would load it. Throws RangeError if the text is not hex. */
function bytesOf(hex: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new RangeError('not hex')
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

/** True if `seedHex` is the seed of the commitment; false for anything that is not hex. */
export function commitmentHolds(commitment: string, seedHex: string): boolean {
  return /^([0-9a-f]{2})+$/.test(seedHex) && commitmentOf(seedHex) === commitment
}

export interface Draw {
  /** The revealed seed: 32 bytes, hex. */
  readonly seed: string
  /** How many numbers were issued before the opening: 1 .. size are drawn. */
  readonly size: number
  /** Hex value of the public randomness beacon, if one was announced before the sale. */
  readonly beacon?: string | null | undefined
}

/**
 * The position of a ticket number after the draw: a bijection on 1 .. draw.size, the identity above it. Throws
 * RangeError unless the number is a positive safe integer.
 */
export function positionOf(draw: Draw, number: number): number {
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`not a ticket number: ${number}`)
  return number > draw.size ? number : 1 + permute(keyOf(draw), draw.size, number - 1)
}

/** The same for many numbers of one draw. It caches the results of the rounds, so each number costs a hundredth. */
export function positionsOf(draw: Draw): (number: number) => number {
  const key = keyOf(draw)
  const known = new Map<number, number>()
  return (number) => {
    if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`not a ticket number: ${number}`)
    return number > draw.size ? number : 1 + permute(key, draw.size, number - 1, known)
  }
}

function keyOf({ seed, beacon }: Draw): Uint8Array {
  return beacon ? sha256(bytesOf(seed + beacon)) : bytesOf(seed)
}

/**
 * A keyed permutation of {0 .. size-1}. Round i = 0 .. 9 maps (L, R) to (R, L xor F_i(R)) on halves of w bits, where
 * F_i(R) is the first 32 bits (big-endian) of SHA-256(key || byte i || R as 32 bits big-endian), cut to its lowest w
 * bits, and w is the smallest number >= 3 with 2^(2w) >= size. A result outside the domain is permuted again. A
 * round's input has a fixed length and fits one block, so the prefix-keyed hash needs no HMAC. Throws RangeError for
 * a key of another length than 32 bytes, and for a size or index out of range. `known`, kept between calls with one
 * key and size, saves hashes.
 */
export function permute(key: Uint8Array, size: number, index: number, known?: Map<number, number>): number {
  if (key.length !== KEY_BYTES) throw new RangeError(`a key has ${KEY_BYTES} bytes, not ${key.length}`)
  if (!Number.isSafeInteger(size) || size < 1 || size > MAX_DRAW_SIZE) throw new RangeError(`not a size: ${size}`)
  if (!Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`not in 0..${size - 1}: ${index}`)
  let halfBits = MIN_HALF_BITS
  while (2 ** (2 * halfBits) < size) halfBits++
  const half = 2 ** halfBits
  const input = new Uint8Array(KEY_BYTES + 5)
  input.set(key)
  const view = new DataView(input.buffer)
  const roundValue = (round: number, right: number): number => {
    const before = known?.get(right * ROUNDS + round)
    if (before !== undefined) return before
    view.setUint8(KEY_BYTES, round)
    view.setUint32(KEY_BYTES + 1, right)
    const digest = sha256(input)
    const value = new DataView(digest.buffer, digest.byteOffset).getUint32(0) & (half - 1)
    if (known && known.size < MAX_KNOWN) known.set(right * ROUNDS + round, value)
    return value
  }
  let value = index
  do {
    let left = Math.floor(value / half)
    let right = value % half
    for (let round = 0; round < ROUNDS; round++) {
      const mixed = left ^ roundValue(round, right)
      left = right
      right = mixed
    }
    value = left * half + right
  } while (value >= size)
  return value
}
