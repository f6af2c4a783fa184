import { expect, test } from 'vitest'
import { freePort } from './processes.ts'

test('gives each port out once', async () => {
  // So many that chance alone would give one of them twice: the birthdays of 500 people in a year of 17,000 days.
  const ports = await Promise.all(Array.from({ length: 500 }, freePort))
  expect(new Set(ports).size).toBe(500)
})
