/** A release is cut in a copy of the repository, whose checks are left out. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { beforeAll, expect, test } from 'vitest'
import { UsageError } from '../lib/command.ts'
import { codeOf } from './commit.ts'
import { Release } from './release.ts'

const VERSION = '99.0.0'
let root = ''
const git = async (...args: string[]) => (await execa('git', args, { cwd: root })).stdout
const text = (file: string) => readFileSync(join(root, file), 'utf8')
const versionOf = (file: string) => JSON.parse(text(file)).version

async function cut(version: string, checks: readonly (readonly [string, ...string[]])[] = []) {
  const said: string[] = []
  await new Release({ root, version, checks, say: (line) => said.push(line) }).cut()
  return said.at(-1)
}

beforeAll(async () => {
  root = await codeOf('HEAD')
  await git('init', '--quiet')
  writeFileSync(join(root, '.git/info/exclude'), 'node_modules\n')
  const [head, rest = ''] = text('docs/CHANGELOG.md').split('\n## Unreleased\n')
  writeFileSync(join(root, 'docs/CHANGELOG.md'), `${head}\n## Unreleased\n\n- **An entry** of the test.\n${rest}`)
  for (const [name, value] of Object.entries({ 'user.name': 'Ada', 'user.email': 'ada@shop.example' }))
    await git('config', name, value)
  await git('add', '--all')
  await git('commit', '--quiet', '--message', 'all')
})

test('what is refused, or fails a check, changes nothing', async () => {
  writeFileSync(join(root, 'note.txt'), '')
  await expect(cut(VERSION)).rejects.toThrow(new UsageError('The tree has changes that are not committed.'))
  await git('clean', '--quiet', '--force')
  await expect(cut('0.0.1')).rejects.toThrow('0.0.1 is not higher than')
  const head = await git('rev-parse', 'HEAD')
  await expect(cut(VERSION, [['node', '--eval', 'process.exit(3)']])).rejects.toThrow('exit code 3')
  expect([await git('status', '--porcelain'), await git('rev-parse', 'HEAD'), await git('tag')]).toEqual(['', head, ''])
})

test('a release has its version everywhere, a dated changelog with its commit, a tag and a package', async () => {
  // The check sees the version that is released.
  const check = `process.exitCode = require('./package.json').version === '${VERSION}' ? 0 : 1`
  expect(await cut(VERSION, [['node', '--eval', check]])).toBe(
    `${VERSION} is cut: push both commits, as they are, and the tag v${VERSION}.`,
  )
  for (const file of ['package.json', 'package-lock.json', 'client/package.json'])
    expect(versionOf(file), file).toBe(VERSION)
  expect(JSON.parse(text('docs/openapi/buyers.json')).info.version).toBe(VERSION)
  expect(text('deploy/kubernetes/production/kustomization.yaml')).toContain(`newTag: ${VERSION}`)
  expect(existsSync(join(root, `release/flash-sale-client-${VERSION}.tgz`))).toBe(true)
  const commit = await git('rev-parse', `v${VERSION}^{commit}`)
  expect(await git('log', '-2', '--format=%H %s')).toMatch(
    new RegExp(`^\\w+ release: name the commit of ${VERSION}\n${commit} release: ${VERSION}$`),
  )
  expect(text('docs/CHANGELOG.md')).toMatch(
    new RegExp(`\n## Unreleased\n\n## ${VERSION}, [\\d-]{10}\n\nCommit \`${commit}\`.\n\n- \\*\\*An entry`),
  )
  expect(await git('status', '--porcelain')).toBe('')
})

test('one that was interrupted after its commit is finished, and a finished one stays', async () => {
  const done = await git('rev-parse', 'HEAD')
  expect(await cut(VERSION)).toBe(`${VERSION} is cut.`)
  expect(await git('rev-parse', 'HEAD')).toBe(done)
  await git('reset', '--quiet', '--hard', 'HEAD~1')
  await git('tag', '--delete', `v${VERSION}`)
  expect(await cut(VERSION)).toContain('push both commits')
  expect(await git('log', '-1', '--format=%s')).toBe(`release: name the commit of ${VERSION}`)
})
