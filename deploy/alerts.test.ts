import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMetrics } from '../origin/base/metrics.ts'
import { FINDING_ADVICE } from '../origin/report/health/finding-advice.ts'
import { metricsIn, wrongIn } from './queries.ts'

const textOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const text = textOf('./alerts.yml')
const objectives = textOf('./slo.yml')
/** One text per alert; the file is simple enough to be read without a YAML parser. */
const rules = text.split(/^ {6}- alert: /m).slice(1)
/** The expression, which may span several indented lines. */
const exprOf = (rule: string) => /^ {8}expr: (?:>-\n)?((?: {10}.*\n|.+\n)+?) {8}\w/m.exec(rule)?.[1] ?? ''

test('every alert uses metrics and labels that exist', () => {
  expect(rules.length).toBeGreaterThanOrEqual(14)
  for (const rule of rules) expect(wrongIn(exprOf(rule)), rule).toEqual([])
})

test('every objective is of metrics that exist, in each window that its alerts read', () => {
  const windows = new Map<string, string[]>()
  for (const [, record = '', expr = '', slo = ''] of objectives.matchAll(RECORDED)) {
    expect(wrongIn(expr), expr).toEqual([])
    windows.set(slo, [...(windows.get(slo) ?? []), record])
  }
  const read = [...new Set(objectives.match(/slo:errors:ratio_\w+(?= >)/g))].toSorted()
  const budgets = [...objectives.matchAll(/error_budget", .* slo: (\w+) \}/g)].map(([, slo]) => slo)
  expect(budgets).toEqual(['checkout', 'checkout_latency', 'join', 'payment'])
  expect([...windows.keys()]).toEqual(budgets)
  for (const recorded of windows.values()) expect(recorded.toSorted()).toEqual(read)
})
const RECORDED = /record: (\S+)\n +expr: (.+)\n +labels: \{ slo: (\w+) \}/g

test('every alert has a severity and a summary', () => {
  for (const rule of [...rules, ...objectives.split(/^ {6}- alert: /m).slice(1)]) {
    expect(rule).toMatch(/^\w+\n/)
    expect(rule).toMatch(/^ {8}labels: \{ severity: (warn|page) \}$/m)
    expect(rule).toMatch(/^ {8}annotations:\n {10}summary: "[^"\n]+"$/m)
  }
})

test('the runbook says of every alert and finding what it means for buyers, and what to press', () => {
  const rows = textOf('../docs/runbook.md').match(/^\| `.*\|$/gm) ?? []
  const alerts = [...`${text}${objectives}`.matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert)
  const findings = Object.keys(FINDING_ADVICE).filter((kind) => kind !== 'unknown')
  const cells = (row: string) => row.slice(1, -1).split(/(?<!\\)\|/)
  const described = rows.filter((row) => cells(row).length >= 3 && cells(row).every((cell) => cell.trim() !== ''))
  const names = described.flatMap((row) => cells(row)[0]?.match(/\w+(?=`)/g) ?? [])
  expect([...alerts, ...findings].filter((name) => !names.includes(`${name}`))).toEqual([])
  const gone = names.filter((name) => /^[A-Z]/.test(name) && !alerts.includes(name))
  expect(gone).toEqual([])
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
