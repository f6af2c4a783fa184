import { expect, test } from 'vitest'
import { bitsOf, differingSeats } from './bits.ts'

test('names each seat in which two bitmaps differ, whatever its place in its byte', () => {
  for (let seat = 0; seat < 24; seat++) {
    expect(differingSeats(bitsOf([seat, 3]), bitsOf([3]))).toEqual(seat === 3 ? [] : [seat])
    expect(differingSeats(new Uint8Array(), bitsOf([seat]))).toEqual([seat])
  }
  expect(differingSeats(bitsOf([0, 7, 8, 15]), bitsOf([7]))).toEqual([0, 8, 15])
})
