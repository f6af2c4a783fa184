import { expect, test } from 'vitest'
import { workersOf } from './worker-reports.ts'

const NOW_MS = 1_000_000
const report = (agoMs: number, answeredAgoMs: number | null, failedAgoMs: number | null) => ({
  atMs: NOW_MS - agoMs,
  answeredAtMs: answeredAgoMs === null ? null : NOW_MS - answeredAgoMs,
  failedAtMs: failedAgoMs === null ? null : NOW_MS - failedAgoMs,
})
const of = (...reports: ReturnType<typeof report>[]) => workersOf(reports, NOW_MS)

test('counts the workers that reported lately', () => {
  expect(of()).toEqual({ workers: 0, provider: null })
  expect(of(report(60_000, 100, null))).toEqual({ workers: 0, provider: null })
  expect(of(report(1_000, null, null), report(11_000, null, null))).toEqual({ workers: 1, provider: 'unused' })
})

test('says of the provider what was seen last, by whichever worker', () => {
  expect(of(report(1_000, 5_000, 9_000))).toMatchObject({ provider: 'answers' })
  expect(of(report(1_000, 40_000, 5_000))).toMatchObject({ provider: 'fails' })
  expect(of(report(1_000, null, 5_000))).toMatchObject({ provider: 'fails' })
  expect(of(report(1_000, 40_000, 5_000), report(1_000, 2_000, null))).toMatchObject({ provider: 'answers' })
})

test('takes one charge without an answer for what it is', () => {
  expect(of(report(1_000, 9_000, 5_000))).toMatchObject({ provider: 'answers' })
})
