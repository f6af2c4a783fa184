/** Runs each part of `npm run check` beside the other tests, which mostly wait. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { TEST_WITHIN_MS } from './run/patience.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: { check: string } }

test.each(scripts.check.split(' && '))('%s', { timeout: 10 * TEST_WITHIN_MS }, async (command) => {
  const { exitCode, all } = await execa(command, {
    cwd: ROOT,
    shell: true,
    preferLocal: true,
    all: true,
    reject: false,
  })
  expect(exitCode, all).toBe(0)
})
