/** Reads the queries of alerts and dashboards: which metrics they are of, and whether those exist. */
import { readFileSync } from 'node:fs'
import { createProbeMetrics } from '../dev/probe/probe-metrics.ts'
import { createMetrics } from '../origin/base/metrics.ts'

const WORDS = /^(by|on|or|and|unless|offset|absent|max|min|sum|abs|rate|increase|time|histogram_quantile)$/
/** The labels that Prometheus adds, and those of a histogram's buckets. */
const ADDED_LABELS = ['instance', 'le']

/** What the rules of the objectives record. */
const OBJECTIVES = readFileSync(new URL('./slo.yml', import.meta.url), 'utf8')
const RECORDED = new Set([...OBJECTIVES.matchAll(/record: "?([\w:]+)/g)].map(([, name = '']) => name))

interface Asked {
  readonly name: string
  /** The labels that the metric is selected by. */
  readonly labels: readonly string[]
}

export function metricsIn(query: string): Asked[] {
  const asked = query.replace(/\b(by|on) \([^)]*\)/g, '').replace(/\[\w+\]|offset \w+/g, '')
  return [...asked.matchAll(/\b([a-z][\w:]*)(?:\{([^}]*)\})?/g)].flatMap(([, name = '', labels = '']) =>
    WORDS.test(name) ? [] : { name, labels: [...labels.matchAll(/(\w+)[=!]/g)].map(([, label = '']) => label) },
  )
}

/** One sentence for each metric or label of the query that nobody has: not the origin, the probe or a rule. */
export function wrongIn(query: string): string[] {
  const registries = [createMetrics().registry, createProbeMetrics().registry]
  const asked = metricsIn(query)
  const labelsOf = (name: string) =>
    (RECORDED.has(name) ? ['slo'] : undefined) ??
    registries
      .map((registry) => registry.getSingleMetric(name.replace(/_(bucket|count)$/, '')))
      .map((metric) => (metric as { labelNames?: readonly string[] } | undefined)?.labelNames)
      .find((labels) => labels !== undefined)
  const grouped = [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const known = new Set([...ADDED_LABELS, ...asked.flatMap(({ name }) => labelsOf(name) ?? [])])
  return [
    ...(asked.length === 0 ? [`no metric in ${query}`] : []),
    ...asked.flatMap(({ name, labels }) => {
      const own = labelsOf(name)
      if (!own) return `no metric ${name}`
      return labels.filter((label) => ![...own, 'le'].includes(label)).map((label) => `no label ${label} of ${name}`)
    }),
    ...grouped.filter((label) => !known.has(label)).map((label) => `no label ${label} in ${query}`),
  ]
}
