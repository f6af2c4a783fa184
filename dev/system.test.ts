/**
 * A system that cannot start prints the reason in one sentence and leaves nothing behind. test/start.test.ts tests
 * the command itself.
 */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { useFailures } from '../test/lib/failed-starts.ts'
import { serveOnLoopback } from './lib/loopback.ts'
import type { SystemOptions } from './system.ts'

const { failureOf, folder } = useFailures()

test.each([
  ['port', 'PORT', 6665],
  ['edgePort', 'EDGE_PORT', 6666],
  ['opsPort', 'OPS_PORT', 6667],
])('its %s is taken, or refused by browsers', async (option, name, refused) => {
  const other = await serveOnLoopback(() => {})
  const port = Number(new URL(other.url).port)
  const taken = `Port ${port} is taken: stop what uses it, or set ${name} to another.`
  expect(await failureOf({ [option]: port })).toBe(taken)
  other.stop()
  expect(await failureOf({ [option]: refused })).toBe(`Browsers refuse port ${refused}: set ${name} to another.`)
})

const NOBODY = '127.0.0.1:1'
test.each<[SystemOptions, RegExp]>([
  [{ databaseUrl: 'mysql://root:hunter2@localhost/shop' }, /^DATABASE_URL is not an address/],
  [{ databaseUrl: `postgres://me:hunter2@${NOBODY}/shop` }, /\(127\.0\.0\.1:1\) does not serve: .*ECONNREFUSED/],
  [{ redisUrl: 'localhost' }, /^REDIS_URL is not an address/],
  [{ redisUrl: `redis://:hunter2@${NOBODY}` }, /\(127\.0\.0\.1:1\) does not serve: .*ECONNREFUSED/],
  [
    { redisUrl: `redis+cluster://me:hunter2@${NOBODY},127.0.0.1:2` },
    /\(127\.0\.0\.1:1,127\.0\.0\.1:2\) does not serve: /,
  ],
  [{ redisUrl: `redis+sentinel://me:hunter2@${NOBODY}/shop` }, /\(127\.0\.0\.1:1\) does not serve: /],
  [{ originEnv: { LOG_LEVEL: 'loud' } }, /^the origin ended at once .*LOG_LEVEL/],
])('it is given %j', async (options, message) => {
  expect(await failureOf(options)).toMatch(message)
})

/** A file stands in place of the folder, because another user's folder would not stop root. */
const inPlaceOf = (path: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
}
test.each<[what: string, make: (folder: string) => void, message: RegExp]>([
  ['is a file', inPlaceOf, /^The data folder .* cannot be used \(EEXIST\): /],
  [
    'has a file named redis',
    (at) => inPlaceOf(join(at, 'redis')),
    /^The data folder .* cannot be used \(EEXIST: redis\)/,
  ],
  ['has a file named logs', (at) => inPlaceOf(join(at, 'logs')), /^The data folder .* cannot be used \(EEXIST: logs\)/],
  ...['{}', '{', '[]'].map((text): [string, (folder: string) => void, RegExp] => [
    `has the secrets ${text}`,
    (at) => {
      mkdirSync(at)
      writeFileSync(join(at, 'secrets.json'), text)
    },
    /^The secrets in .*secrets\.json cannot be read: /,
  ]),
])('its data folder %s', async (_, make, message) => {
  const dataDir = join(folder(), 'data')
  make(dataDir)
  expect(await failureOf({ dataDir })).toMatch(message)
})

test.skipIf(!existsSync('/dev/full'))('the disk of its data folder is full', async () => {
  const dataDir = join(folder(), 'data')
  mkdirSync(dataDir)
  symlinkSync('/dev/full', join(dataDir, 'secrets.json.unfinished'))
  expect(await failureOf({ dataDir })).toMatch(/^The disk with .* is full \(ENOSPC\): /)
})

test('there is no folder for temporary files', async () => {
  vi.stubEnv('TMPDIR', '/nowhere')
  expect(await failureOf({})).toMatch(/^Cannot make a folder in \/nowhere \(ENOENT\): /)
})
