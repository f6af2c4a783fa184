/** What `npm ci --omit=dev` installs, by the lock file. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Locked {
  readonly dev?: true
  readonly hasInstallScript?: true
  readonly resolved?: string
  readonly link?: true
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}
const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev)

test('production installs no compiler, no bundler and no second driver', () => {
  const names = installed.map(([path]) => path.replace(/^.*node_modules\//, ''))
  const wrong = /^(typescript.*|@typescript\/.*|@cloudflare\/.*|esbuild|@esbuild\/.*|drizzle-.*|pg|patch-package)$/
  expect(names.filter((name) => wrong.test(name))).toEqual([])
  expect(names.length).toBeGreaterThan(50)
})

test('production runs no script of a package, and its driver is the copy in this repository', () => {
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([])
  expect(lock.packages['node_modules/postgres']).toEqual({ resolved: 'vendor/postgres', link: true })
})
