/** Grafana's dashboards show metrics that exist. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { wrongIn } from '../queries.ts'

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}
interface Dashboard {
  readonly uid: string
  readonly templating: { readonly list: readonly { readonly name: string }[] }
  readonly panels: readonly Panel[]
}

const folder = fileURLToPath(new URL('.', import.meta.url))
const files = globSync('*.json', { cwd: folder }).toSorted()
const read = (file: string): Dashboard => JSON.parse(readFileSync(folder + file, 'utf8'))

test('there is one for the sale, the stores, the edge and the payments', () => {
  expect(files).toEqual(['edge.json', 'payments.json', 'sale.json', 'stores.json'])
  for (const file of files) expect(read(file).uid).toBe(`flash-sale-${file.replace('.json', '')}`)
})

test.each(files)('%s asks for metrics and labels that exist, in panels that do not overlap', (file) => {
  const { panels, templating } = read(file)
  const variables = templating.list.map(({ name }) => `$${name}`)
  const taken = new Set<string>()
  for (const { title, targets, gridPos } of panels) {
    expect(
      targets.flatMap(({ expr }) => wrongIn(expr.replaceAll(/\$\w+/g, 'x'))),
      title,
    ).toEqual([])
    for (const { expr, legendFormat } of targets) {
      for (const [variable] of expr.matchAll(/\$\w+/g)) expect(variables, title).toContain(variable)
      // A label that the query does not group by would be empty.
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
      expect(/\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [], title).toEqual(expect.arrayContaining(shown))
    }
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) taken.add(`${x} ${gridPos.y}`)
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  }
  expect(taken.size).toBe(panels.reduce((sum, { gridPos }) => sum + gridPos.w, 0))
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
})
