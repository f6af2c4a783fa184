/** How long a metric is shown. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMetrics } from './metrics.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('drops a gauge that is not set again, and keeps a counter', async () => {
  const metrics = createMetrics()
  const [here, there] = [
    { sale: 's', product: 'here', state: 'held' },
    { sale: 's', product: 'there', state: 'held' },
  ]
  metrics.stock.set(here, 1)
  metrics.stock.set(there, 1)
  metrics.orders.inc({ sale: 's', status: 'reserved' })
  vi.advanceTimersByTime(20_000)
  metrics.stock.set(here, 2)
  vi.advanceTimersByTime(20_000)
  const text = await metrics.registry.metrics()
  expect(text).toContain('stock_units{sale="s",product="here",state="held"} 2')
  expect(text).not.toContain('product="there"')
  expect(text).toContain('order_transitions_total{sale="s",status="reserved"} 1')
})

test('drops the counters of a sale a day after the last change, and then counts from zero', async () => {
  const metrics = createMetrics()
  const hours = (n: number) => vi.advanceTimersByTime(n * 3_600_000)
  const reserved = { sale: 's', status: 'reserved' }
  const declined = { sale: 's', status: 'cancelled', reason: 'declined' }
  metrics.orders.inc(reserved, 5)
  metrics.orders.inc(declined)
  metrics.findings.inc({ sale: 's', kind: 'drift' })
  metrics.payments.inc({ outcome: 'authorized' })
  hours(23)
  metrics.orders.inc(declined)
  expect(await metrics.registry.metrics()).toContain('order_transitions_total{sale="s",status="reserved"} 5')
  hours(2)
  const text = await metrics.registry.metrics()
  expect(text.split('\n').filter((line) => line.includes('sale="s"'))).toEqual([
    'order_transitions_total{sale="s",status="cancelled",reason="declined"} 2',
  ])
  expect(text).toContain('payment_attempts_total{outcome="authorized"} 1')
  metrics.orders.inc(reserved)
  expect(await metrics.registry.metrics()).toContain('order_transitions_total{sale="s",status="reserved"} 1')
})
