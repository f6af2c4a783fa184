import { expect, it } from 'vitest'
import { invalidField, TOO_HEAVY } from '../../../shared/problem.ts'
import { isTooHeavy } from './faults.ts'

it('knows an order that is too heavy by the reason of the problem, whatever its text says', () => {
  expect(isTooHeavy({ ...invalidField('quantity', 'is more than a parcel holds'), reason: TOO_HEAVY })).toBe(true)
  expect(isTooHeavy(invalidField('quantity', 'is heavy'))).toBe(false)
})
