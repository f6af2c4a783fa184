import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inOrder } from './changes.ts'

/** Events as the log contains them: sorted by transaction, with some neighbouring events of an order exchanged. */
const logs = fc
  .array(fc.record({ order_id: fc.constantFrom('a', 'b', 'c', null), swap: fc.boolean() }), { maxLength: 60 })
  .map((made) => {
    const log = made.map(({ order_id }, seq) => ({ order_id, seq }))
    for (let i = 0; i + 1 < log.length; i++) {
      const [one, two] = log.slice(i, i + 2)
      if (made[i]?.swap && one && two) log.splice(i, 2, two, one)
    }
    return log
  })

test('page after page, each event comes once, and those of an order in the order in which they happened', () => {
  fc.assert(
    fc.property(logs, fc.integer({ min: 1, max: 7 }), (log, limit) => {
      const got: typeof log = []
      for (let at = 0; at < log.length; ) {
        const page = inOrder(log.slice(at, at + limit + 60), limit)
        expect(page.length).toBeGreaterThan(0)
        got.push(...page)
        at += page.length
      }
      expect([...got].sort((x, y) => x.seq - y.seq)).toEqual([...log].sort((x, y) => x.seq - y.seq))
      for (const order of ['a', 'b', 'c']) {
        const ofOrder = got.filter(({ order_id }) => order_id === order).map(({ seq }) => seq)
        expect(ofOrder).toEqual([...ofOrder].sort((x, y) => x - y))
      }
    }),
  )
})
