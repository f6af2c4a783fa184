/** Reads the queries of alerts and dashboards: which metrics they are of, and whether those exist. */
import { createMetrics } from '../origin/base/metrics.ts'

const WORDS = /^(by|on|or|and|unless|offset|absent|max|min|sum|abs|rate|increase|time|histogram_quantile)$/
/** The labels that Prometheus adds, and those of a histogram's buckets. */
const ADDED_LABELS = ['instance', 'le']

interface Asked {
  readonly name: string
  /** The labels that the metric is selected by. */
  readonly labels: readonly string[]
}

export function metricsIn(query: string): Asked[] {
  const asked = query.replace(/\b(by|on) \([^)]*\)/g, '').replace(/\[\w+\]|offset \w+/g, '')
  return [...asked.matchAll(/\b([a-z]\w*)(?:\{([^}]*)\})?/g)].flatMap(([, name = '', labels = '']) =>
    WORDS.test(name) ? [] : { name, labels: [...labels.matchAll(/(\w+)[=!]/g)].map(([, label = '']) => label) },
  )
}

/** One sentence for each metric or label of the query that the origin does not have. */
export function wrongIn(query: string): string[] {
  const { registry } = createMetrics()
  const asked = metricsIn(query)
  const labelsOf = (name: string) =>
    (registry.getSingleMetric(name.replace(/_bucket$/, '')) as { labelNames?: readonly string[] } | undefined)
      ?.labelNames
  const grouped = [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const known = new Set([...ADDED_LABELS, ...asked.flatMap(({ name }) => labelsOf(name) ?? [])])
  return [
    ...(asked.length === 0 ? [`no metric in ${query}`] : []),
    ...asked.flatMap(({ name, labels }) => {
      const own = labelsOf(name)
      if (!own) return `no metric ${name}`
      return labels.filter((label) => !own.includes(label)).map((label) => `no label ${label} of ${name}`)
    }),
    ...grouped.filter((label) => !known.has(label)).map((label) => `no label ${label} in ${query}`),
  ]
}
