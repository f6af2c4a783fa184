import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SaleRow } from '../ledger/sale-row.ts'
import {
  inOrder,
  isOverridden,
  latestOf,
  type NewChange,
  type NotedChange,
  repeated,
  withNoted,
} from './noted-changes.ts'

const sale = { sale_id: 'drop', paused: false, pause_reason: null, announcement: null } as unknown as SaleRow
const AT = Date.parse('2026-11-29T12:00:00.000Z')
const change = (seconds: number, more: Partial<NotedChange> & Pick<NotedChange, 'action'>) =>
  ({ id: `change ${seconds}`, sale: 'drop', operator: 'ann', at_ms: AT + 1000 * seconds, ...more }) as NotedChange
const pause = change(1, { action: 'pause', reason: { en: 'We look into it.' } })
const resume = change(3, { action: 'resume' })
const announce = change(2, { action: 'announce', level: 'warning', text: { en: 'Wait a moment.' } })

test('a sale is what its latest changes made of it, in the order of their times and not of their notes', () => {
  const changes = fc.shuffledSubarray(
    Array.from({ length: 8 }, (_, i) => change(i, { action: i % 3 === 0 ? 'resume' : 'pause' })),
    { minLength: 1 },
  )
  fc.assert(
    fc.property(changes, (noted) => {
      const last = noted.reduce((a, b) => (a.at_ms > b.at_ms ? a : b))
      expect(withNoted(sale, inOrder(noted)).paused).toBe(last.action === 'pause')
      expect(latestOf('drop', inOrder(noted))).toBe(last)
    }),
  )
})

test('a pause has its reason until the sale goes on, and an announcement its time', () => {
  const shown = { id: announce.id, level: 'warning', text: { en: 'Wait a moment.' }, since: '2026-11-29T12:00:02.000Z' }
  const paused = withNoted(sale, inOrder([announce, pause]))
  expect(paused).toMatchObject({ paused: true, pause_reason: { en: 'We look into it.' }, announcement: shown })
  const resumed = withNoted(sale, inOrder([resume, announce, pause]))
  expect(resumed).toMatchObject({ paused: false, pause_reason: null, announcement: shown })
  expect(withNoted(sale, [{ ...pause, sale: 'other' }])).toBe(sale)
})

test('a later change of the same kind in the ledger stays, and an earlier one or another kind does not count', () => {
  const logged = (action: string, seconds: number) => [{ action, at: new Date(AT + 1000 * seconds) }]
  for (const action of ['paused', 'resumed', 'opened', 'ended'])
    for (const ours of [pause, resume]) {
      expect(isOverridden(ours, logged(action, 4))).toBe(true)
      expect(isOverridden(ours, logged(action, 0))).toBe(false)
    }
  expect(isOverridden(announce, logged('announced', 4))).toBe(true)
  expect(isOverridden(announce, logged('announcement ended', 4))).toBe(true)
  expect(isOverridden(announce, [...logged('paused', 4), ...logged('announced', 1)])).toBe(false)
  expect(isOverridden(pause, logged('announced', 4))).toBe(false)
})

test('a change repeats the latest note of its kind about its sale, whoever said something else meanwhile', () => {
  const asNew = ({ id: _, at_ms: __, ...rest }: NotedChange) => rest as NewChange
  expect(repeated(asNew(pause), inOrder([announce, pause]))).toBe(pause)
  expect(repeated(asNew(announce), inOrder([resume, announce, pause]))).toBe(announce)
  expect(repeated(asNew(pause), inOrder([pause, resume]))).toBeUndefined()
  expect(repeated({ ...asNew(pause), operator: 'bob' }, [pause])).toBeUndefined()
  expect(repeated({ action: 'pause', sale: 'drop', operator: 'ann' }, [pause])).toBeUndefined()
  expect(repeated({ ...asNew(pause), sale: 'other' }, [pause])).toBeUndefined()
})
