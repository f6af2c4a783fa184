/**
 * The draw: those who came before the opening are put in an order nobody could choose or foresee.
 *
 * Commit and reveal. Before the sale the edge publishes SHA-256(seed). At the opening the pre-queue is closed at
 * M numbers and the seed is revealed; from then on anyone computes anyone's position:
 *
 *     key      = seed                       when no beacon was announced (32 bytes)
 *              = SHA-256(seed || beacon)    when one was
 *     position = 1 + permute(key, M, number - 1)       for 1 <= number <= M
 *     position = number                                for number > M
 *
 * `permute` is a balanced Feistel network over 2w bits with cycle walking (Black & Rogaway, "Ciphers with Arbitrary
 * Finite Domains", 2002): a bijection of {0 .. M-1} that needs no table, so that the Worker, the browser and an
 * auditor each compute one position in microseconds.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** Ten rounds: Luby-Rackoff needs four; eight and more leave a margin that costs only microseconds. */
const ROUNDS = 10
/** Bytes of a seed, and of the key made from it. */
const KEY_BYTES = 32
/** At least 2 * 3 bits, so that a tiny pre-queue is not permuted by a network of one-bit halves. */
const MIN_HALF_BITS = 3

/** The largest pre-queue that can be drawn: the halves of the network must fit 26 bits. */
const MAX_DRAW_SIZE = 2 ** 52

/** Hex SHA-256 of the seed's bytes: what is published before the sale. `seedHex` is the seed in hex. */
export function commitmentOf(seedHex: string): string {
  return bytesToHex(sha256(hexToBytes(seedHex)))
}

/** True if `seedHex` is the seed that was committed to. */
export function commitmentHolds(commitment: string, seedHex: string): boolean {
  return /^([0-9a-f]{2})+$/.test(seedHex) && commitmentOf(seedHex) === commitment
}

export interface Draw {
  /** The revealed seed: 32 bytes, hex. */
  readonly seed: string
  /** How many numbers were issued before the opening: 1 .. size take part. */
  readonly size: number
  /** Hex value of the public randomness beacon announced before the sale, if one was. */
  readonly beacon?: string | null | undefined
}

/**
 * The position of a ticket number once the draw is made: a bijection on 1 .. draw.size, the identity above it.
 * Throws RangeError on a number that is not a positive safe integer.
 */
export function positionOf(draw: Draw, number: number): number {
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`not a ticket number: ${number}`)
  return number > draw.size ? number : 1 + permute(keyOf(draw), draw.size, number - 1)
}

function keyOf({ seed, beacon }: Draw): Uint8Array {
  return beacon ? sha256(hexToBytes(seed + beacon)) : hexToBytes(seed)
}

/**
 * A keyed permutation of {0 .. size-1}. Round i = 0 .. 9 maps (L, R) to (R, L xor F_i(R)) on halves of w bits, where
 * F_i(R) is the first 32 bits (big-endian) of SHA-256(key || byte i || R as 32 bits big-endian), cut to its lowest w
 * bits, and w is the smallest number >= 3 with 2^(2w) >= size. A result outside the domain is permuted again. The
 * round's input has a fixed length and fits one block, so that the hash keyed by its prefix needs no HMAC around it.
 */
export function permute(key: Uint8Array, size: number, index: number): number {
  if (key.length !== KEY_BYTES) throw new RangeError(`a key has ${KEY_BYTES} bytes, not ${key.length}`)
  if (!Number.isSafeInteger(size) || size < 1 || size > MAX_DRAW_SIZE)
    throw new RangeError(`not a size: ${size}`)
  if (!Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`not in 0..${size - 1}: ${index}`)
  let halfBits = MIN_HALF_BITS
  while (2 ** (2 * halfBits) < size) halfBits++
  const half = 2 ** halfBits
  const input = new Uint8Array(KEY_BYTES + 5)
  input.set(key)
  const view = new DataView(input.buffer)
  const roundValue = (round: number, right: number): number => {
    view.setUint8(KEY_BYTES, round)
    view.setUint32(KEY_BYTES + 1, right)
    const digest = sha256(input)
    return new DataView(digest.buffer, digest.byteOffset).getUint32(0) & (half - 1)
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
