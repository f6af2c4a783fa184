/** Prometheus's own tool reads each query of the dashboards. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../dev/lib/processes.ts'
import { ensureProgram } from '../../dev/servers/install.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

test('Prometheus reads every query', async () => {
  const otherwise = 'leave this test to a machine that has it'
  await ensureProgram({ name: 'promtool', binaries: ['promtool'], apt: 'prometheus', brew: 'prometheus', otherwise })
  const folder = temporaryFolder('dashboards')
  onTestFinished(() => folder.remove())
  const text = globSync('*.json', { cwd: here }).map((file) => readFileSync(here + file, 'utf8'))
  const queries = text.flatMap((one) => [...one.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, expr = '']) => expr))
  expect(queries.length).toBeGreaterThan(40)
  // The tool checks rules, so each query is one that records something.
  const rules = queries.map((query, at) => ({
    record: `query_${at}`,
    expr: JSON.parse(query).replaceAll('$sale', '.*'),
  }))
  const file = join(folder.path, 'rules.yml')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }))
  const { all } = await execa('promtool', ['check', 'rules', file], { all: true, reject: false })
  expect(all).toContain(`SUCCESS: ${queries.length} rules found`)
})
