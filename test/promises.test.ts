/** Every promise of the README has a test in `npm test`; some also have one in the long tier. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { testsByProject } from './run/tiers.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const table = readFileSync(`${ROOT}README.md`, 'utf8').split('## What it promises')[1]?.split('\n## ')[0] ?? ''
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| promise'))
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()))
const { long, ...daily } = testsByProject(ROOT)
const testsIn = (cell: string) =>
  [...cell.matchAll(/`([^`]+\.test\.ts)`/g)].flatMap(([, pattern = '']) => globSync(pattern, { cwd: ROOT }))

it.each(rows)('%s%s', (_, promise, shownBy = '', shownLongerBy = '') => {
  expect(promise).not.toBe('')
  const [short, longer] = [testsIn(shownBy), testsIn(shownLongerBy)]
  expect(short).not.toEqual([])
  expect(short.filter((file) => !Object.values(daily).flat().includes(file))).toEqual([])
  expect(longer.filter((file) => !long.includes(file))).toEqual([])
})

it('a node of a real Redis Cluster dies in `npm test`', () => {
  expect(rows.flatMap(([, , shownBy = '']) => testsIn(shownBy))).toContain('test/faults/cluster.test.ts')
})
