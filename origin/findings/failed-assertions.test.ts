import { expect, test, vi } from 'vitest'
import { assert } from '../../shared/lib/assert.ts'
import { noteFailedAssertions } from './failed-assertions.ts'

test('a failed assertion is counted and logged each time, and written once a minute', async () => {
  const [inc, error, warn] = [vi.fn(), vi.fn(), vi.fn()]
  const write = vi.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(undefined)
  const stop = noteFailedAssertions({ metrics: { findings: { inc } }, log: { error, warn }, write })
  const fail = async () => {
    expect(() => assert(false, 'A product has a price.')).toThrow('A product has a price.')
    await Promise.resolve()
    await Promise.resolve()
  }
  await fail()
  expect(warn).toHaveBeenCalledOnce()
  await fail()
  await fail()
  expect(write.mock.calls).toEqual([['A product has a price.'], ['A product has a price.']])
  expect(inc.mock.calls).toEqual(Array(3).fill([{ sale: '', kind: 'assertion_failed' }]))
  expect(error).toHaveBeenCalledTimes(3)
  stop()
  await fail()
  expect(inc).toHaveBeenCalledTimes(3)
})
