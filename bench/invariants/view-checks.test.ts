/** The judge of views: people count, and each kind of bot is dropped by its rule. */
import { expect, test } from 'vitest'
import type { Evidence, ViewRecord } from './evidence.ts'
import { viewChecks } from './view-checks.ts'

const record = (changes: Partial<ViewRecord> = {}): ViewRecord => ({
  sent: { people: 100, agent: 20, network: 20, rate: 2_000, dwell: 20 },
  refused: 0,
  counted: 104,
  dropped: new Map(Object.entries({ agent: 20, network: 20, rate: 1_880, repeat: 117, dwell: 20 })),
  ...changes,
})
const holds = (views: ViewRecord | null) => viewChecks({ views } as Evidence).map((check) => check.holds)

test('views are judged by what people and bots really did', () => {
  expect(holds(null)).toEqual([])
  expect(holds(record())).toEqual([true, true])
  expect(holds(record({ counted: 94 }))).toEqual([false, true])
  expect(holds(record({ counted: 107 }))).toEqual([false, true])
  // Where few came, one more or less is more than the twentieth that may differ.
  const few = { people: 6, agent: 2, network: 2, rate: 2_000, dwell: 2 }
  const dropped = new Map(Object.entries({ agent: 2, network: 2, rate: 1_960, repeat: 39, dwell: 2 }))
  expect([7, 6, 8].map((counted) => holds(record({ sent: few, dropped, counted }))[0])).toEqual([true, false, false])
  expect(holds(record({ refused: 1 }))).toEqual([false, true])
  expect(holds(record({ dropped: new Map([...record().dropped, ['dwell', 18]]) }))).toEqual([true, false])
  expect(holds(record({ dropped: new Map([...record().dropped, ['network', 30]]) }))).toEqual([true, false])
})
