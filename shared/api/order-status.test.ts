import { expect, it } from 'vitest'
import { isLive, isSettled, LIVE, ORDER_STATUSES } from './order-status.ts'

it('live orders have units, and settled ones have nothing left to wait for', () => {
  expect(ORDER_STATUSES.filter(isLive)).toEqual([...LIVE])
  expect(ORDER_STATUSES.filter((status) => isLive(status) && !isSettled(status))).toEqual(['reserved', 'paying'])
  expect(ORDER_STATUSES.filter((status) => !isLive(status) && isSettled(status))).toEqual(['expired', 'cancelled'])
  expect(ORDER_STATUSES.filter((status) => !isLive(status) && !isSettled(status))).toEqual(['processing'])
})
