/** Bitmaps of seats as Redis has them: bit n is bit 7 - n % 8 of byte n >> 3. */

/** A byte of a bitmap. Redis keeps none after the last seat that was ever taken: zeros. */
export const byteAt = (bits: Uint8Array, byte: number): number => bits[byte] ?? 0

export function bitsOf(seats: readonly number[]): Uint8Array {
  const bits = new Uint8Array((seats.reduce((most, seat) => Math.max(most, seat), -1) >> 3) + 1)
  for (const seat of seats) bits[seat >> 3] = byteAt(bits, seat >> 3) | (0x80 >> (seat & 7))
  return bits
}

/** The seats in which two bitmaps differ; one may be shorter, and then ends with zeros. */
export function differingSeats(a: Uint8Array, b: Uint8Array): number[] {
  const seats: number[] = []
  for (let byte = 0; byte < Math.max(a.length, b.length); byte++) {
    const differing = byteAt(a, byte) ^ byteAt(b, byte)
    if (differing === 0) continue
    for (let bit = 0; bit < 8; bit++) if (differing & (0x80 >> bit)) seats.push(byte * 8 + bit)
  }
  return seats
}
