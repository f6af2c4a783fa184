import { expect, test } from 'vitest'
import { flat, type Measured } from './load.ts'
import { type Aim, ahead, isReached, markdownOf, reachedOf, row } from './rows.ts'

const rate = (perSecond: number, cpuMicros: number | null = null): Measured => ({ ...flat(perSecond), cpuMicros })

test.each<[Aim | null, boolean | null]>([
  [{ ratio: 0.5 }, true],
  [{ ratio: 0.51 }, false],
  [{ perSecond: 500 }, true],
  [{ cpuMicros: 90 }, false],
  [{ perSecond: 500, cpuMicros: 90 }, false],
  [{ perSecond: 500, cpuMicros: 100 }, true],
  [{ corePercent: 0.01 }, true],
  [{ corePercent: 0.009 }, false],
  [{ p50Ms: 1 }, true],
  [{ slowestMs: 1 }, true],
  [{}, null],
  [null, null],
])('an aim of %o is reached: %s', (aim, is) => {
  expect(isReached(row('ours', rate(500, 100), rate(1_000), aim))).toBe(is)
})

test('an aim whose figure is not known is not met', () => {
  expect(reachedOf(row('ours', rate(1), null, { cpuMicros: 90 }))).toMatchObject([{ now: 'not known', isMet: false }])
})

test('an aim that is not met is shown with its floor, in the measure of the aim', () => {
  const floor = { what: 'a sketch', measured: rate(700, 60) }
  const ours = row('ours', rate(500, 100), rate(1_000), { ratio: 0.8, perSecond: 400, cpuMicros: 90 }, floor)
  expect(reachedOf(ours)).toEqual([
    { what: 'ours', now: '0.50 x', aim: '>= 0.80 x', isMet: false, floor: '0.70 x, a sketch' },
    { what: 'ours', now: '500/s', aim: '>= 400/s', isMet: true, floor: '' },
    { what: 'ours', now: '100 us of CPU', aim: '<= 90 us of CPU', isMet: false, floor: '60 us of CPU, a sketch' },
  ])
})

test("an alternative's row shows its own figures, and how far ahead ours and the floor are", () => {
  const one = ahead('theirs', rate(100), rate(200), { ratio: 4 }, { what: 'a sketch', measured: rate(300) })
  expect(one).toMatchObject({ ratio: 2, measured: { perSecond: 100 }, floor: { ratio: 3 } })
})

test('the aims of tables are the rows of a table in Markdown', () => {
  const rows = [row('bare', rate(1_000), null), row('ours', rate(500), rate(1_000), { ratio: 0.8 })]
  expect(markdownOf([{ title: 'The origin', against: 'of bare', rows }])).toBe(
    '| what | now | aim |  | floor |\n| --- | --- | --- | --- | --- |\n' +
      '| The origin: ours | 0.50 x | >= 0.80 x | not met |  |\n',
  )
})
