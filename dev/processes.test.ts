import { expect, test } from 'vitest'
import { claimPort, freePort } from './processes.ts'

const ports = (count: number) => Promise.all(Array.from({ length: count }, freePort))

test('a port is given out once, and not at all when somebody asked for it by name', async () => {
  // So many that chance alone would give one of them twice: the birthdays of 1,000 people in a year of 17,000 days.
  const first = await ports(500)
  expect(new Set(first).size).toBe(500)
  const asked = Array.from({ length: 17_000 }, (_, i) => 15_000 + i).filter((port) => port % 2 === 0)
  for (const port of asked) claimPort(port)
  const second = await ports(500)
  expect(new Set([...first, ...second]).size).toBe(1_000)
  expect(second.filter((port) => asked.includes(port))).toEqual([])
})
