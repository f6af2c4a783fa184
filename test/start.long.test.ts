/** Starts of `npm start` after one another on one folder: after a stop, after a kill, twice at once, and with mistakes. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPidFile } from '../dev/lib/leftovers.ts'
import type { QueueAnswer } from '../shared/api/public.ts'
import { begun, demo, ownFolder, type Running, remains, served, start } from './lib/starting.ts'
import { visitorsOf } from './lib/visitor.ts'

test.each([
  ['EDGE_PORT', 'http', /^EDGE_PORT must be a port/],
  ['ADMIN_TOKEN', 'hunter2 and more', /^ADMIN_TOKEN may hold/],
  ['REDIS_URL', 'redis://:hunter2@127.0.0.1:1', /^Could not start: .*\(127\.0\.0\.1:1\) does not serve: /],
])('a start with %s=%s says in one line why it fails, and leaves nothing', async (name, value, message) => {
  const run = await start({ env: { [name]: value } }).finished()
  expect(run.status).toBeGreaterThan(0)
  expect(run.err).toMatch(message)
  expect(run.err).toMatch(/^.*\n$/)
  expect(run.err + run.out).not.toContain('hunter2')
  expect(await remains(run)).toEqual([])
})

const newEd25519 = () => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return JSON.stringify({ keys: [{ ...key, kid: 'own' }] })
}

describe('on one data folder, start after start', () => {
  const folder = join(ownFolder(), 'data with spaces')
  const args = ['--data', folder]
  const visitors = (run: Running) => visitorsOf(run.edgeUrl, 'demo')
  let run: Running
  let before: Awaited<ReturnType<typeof demo>>
  let place: QueueAnswer

  test('the crowd that it prints comes, and a second start on its folder is refused', async () => {
    run = start({ args })
    await run.up()
    before = await demo(run, folder)
    await served(`${run.edgeUrl}/sales/demo`)
    place = (await visitors(run).join()).body
    const crowd = /send a crowd +(.*)/.exec(run.out())?.[1] ?? ''
    expect(await begun(crowd)).toMatch(/sale rehearsal-/)
    const second = await start({ args }).finished()
    expect(second.err).toMatch(/^Could not start: Process \d+ is already running a system on /)
  })

  test('the next start goes on with the same sale and line', async () => {
    expect(await remains(await run.end('SIGINT'))).toEqual([])
    run = start({ args, env: { ADMIN_TOKEN: 'of-their-own' } })
    await run.up()
    const { opens_at } = before
    expect(await demo(run, folder)).toMatchObject({ opens_at, token: 'of-their-own' })
    const { status, join } = visitors(run)
    await expect.poll(async () => (await status(place.queue_token ?? '')).number).toBe(place.number)
    expect((await join()).body.number).toBeGreaterThan(place.number)
  })

  test('the start after a kill stops what was left', async () => {
    const left = await run.end('SIGKILL')
    expect(left.servers).toHaveLength(4)
    const env = { PORT: String(run.port), EDGE_PORT: String(run.edgePort) }
    run = start({ args: [...args, '--no-demo'], env: { ...env, ADMISSION_KEYS: newEd25519() } })
    await run.up()
    const { keys } = (await (await fetch(`http://127.0.0.1:${env.EDGE_PORT}/.well-known/jwks.json`)).json()) as {
      keys: object[]
    }
    expect(keys).toMatchObject([{ kty: 'OKP', kid: 'own' }])
    expect(await remains(left)).toEqual([])
  })

  test('it ends, and says why, when one of its servers dies', async () => {
    const redis = run.servers().find((file) => file.endsWith('redis.pid')) ?? ''
    process.kill(readPidFile(redis)?.pid ?? 0, 'SIGKILL')
    const ended = await run.finished()
    expect(ended.status).toBe(1)
    expect(ended.err).toMatch(/^Redis ended unexpectedly \(SIGKILL\)\./)
    expect(await remains(ended)).toEqual([])
  })
})

test('a signal during the start stops what has started', async () => {
  const run = start()
  await expect.poll(() => run.servers().some((file) => file.endsWith('postgres.pid'))).toBe(true)
  const ended = await run.end('SIGTERM')
  expect([ended.status, ended.err]).toEqual([0, ''])
  expect(await remains(ended)).toEqual([])
})
