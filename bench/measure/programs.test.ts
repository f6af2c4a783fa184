import { expect, test } from 'vitest'
import { inAll, measureBy, NOTHING, sumOf, times } from './programs.ts'

test('work of the origin in this process costs the origin', async () => {
  const burn = async () => {
    for (const began = process.cpuUsage(); process.cpuUsage(began).user < 20_000; );
  }
  expect((await measureBy({})(burn, { isOrigin: true })).cost.origin).toBeGreaterThanOrEqual(20_000)
  expect((await measureBy({})(burn)).cost).toEqual(NOTHING)
})

test("the provider's cost is shown, and not our own", () => {
  const cost = sumOf([times({ ...NOTHING, edge: 1, origin: 2, provider: 8 }, 10), { ...NOTHING, Postgres: 5 }])
  expect(cost).toEqual({ edge: 10, origin: 20, Postgres: 5, Redis: 0, provider: 80 })
  expect(inAll(cost)).toBe(35)
  expect(inAll(cost, ['origin', 'Postgres'])).toBe(25)
})
