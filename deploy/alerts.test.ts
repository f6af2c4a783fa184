import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMetrics } from '../origin/base/metrics.ts'
import { metricsIn, wrongIn } from './queries.ts'

const text = readFileSync(new URL('./alerts.yml', import.meta.url), 'utf8')
/** One text per alert; the file is simple enough to be read without a YAML parser. */
const rules = text.split(/^ {6}- alert: /m).slice(1)
/** The expression, which may span several indented lines. */
const exprOf = (rule: string) => /^ {8}expr: (?:>-\n)?((?: {10}.*\n|.+\n)+?) {8}\w/m.exec(rule)?.[1] ?? ''

test('every alert uses metrics and labels that exist', () => {
  expect(rules.length).toBeGreaterThanOrEqual(14)
  for (const rule of rules) expect(wrongIn(exprOf(rule)), rule).toEqual([])
})

test('every alert has a severity and a summary', () => {
  for (const rule of rules) {
    expect(rule).toMatch(/^\w+\n/)
    expect(rule).toMatch(/^ {8}labels: \{ severity: (warn|page) \}$/m)
    expect(rule).toMatch(/^ {8}annotations:\n {10}summary: "[^"\n]+"$/m)
  }
})

test('alerts fire when the last origin or worker, and its metrics with it, is gone', () => {
  const absent = rules.flatMap((rule) => metricsIn(/absent\(([^)]*)\)/.exec(exprOf(rule))?.[1] ?? ''))
  // Every origin has the first, only workers have the second.
  expect(absent.map(({ name }) => name)).toEqual(['store_up', 'actor_last_success_timestamp_seconds'])
  expect(exprOf(rules.find((rule) => rule.startsWith('WorkersGone')) ?? '')).toContain('{actor="reconciler"}')
})

test('alerts fire when section updates take two and five seconds, which are bounds of the histogram', () => {
  const late = rules.filter((rule) => rule.startsWith('SectionUpdates')).map(exprOf)
  const bounds = late.map((expr) => Number(/ > (\d+)$/m.exec(expr)?.[1]))
  expect(bounds).toEqual([2, 5])
  const histogram = createMetrics().registry.getSingleMetric('section_update_seconds') as unknown as {
    upperBounds: number[]
  }
  expect(histogram.upperBounds).toEqual(expect.arrayContaining(bounds))
})

test('an alert fires when webhooks wait for long, and not for a few of one endpoint that fails', () => {
  const late = exprOf(rules.find((rule) => rule.startsWith('WebhooksLate')) ?? '')
  const names = metricsIn(late).map(({ name }) => name)
  expect(names).toEqual(['webhook_oldest_pending_seconds', 'webhook_deliveries_pending'])
})

test('alerts of their own fire when one store is away, a gate is closed, and checkouts pass without the gate', () => {
  const expected = [
    ['StoreAway', 'min by (instance, store) (store_up) == 0', ['store_up']],
    ['GateClosed', 'min by (sale) (gate_open) == 0', ['gate_open']],
    ['CheckoutsWithoutGate', '> 0.1', ['degraded_total', 'checkouts_total']],
  ] as const
  for (const [name, condition, names] of expected) {
    const expr = exprOf(rules.find((rule) => rule.startsWith(`${name}\n`)) ?? '')
    expect(expr).toContain(condition)
    expect(metricsIn(expr).map((metric) => metric.name)).toEqual(names)
  }
})

test('an alert fires when an assertion fails, for the first time too', () => {
  const expr = exprOf(rules.find((rule) => rule.startsWith('AssertionFailed\n')) ?? '')
  expect(metricsIn(expr).map(({ name }) => name)).toEqual(Array(3).fill('findings_total'))
  expect(expr.match(/kind="assertion_failed"/g)).toHaveLength(3)
})
