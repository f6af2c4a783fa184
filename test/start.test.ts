/** `npm start` as a user sees it: its output, its failure, and that it leaves nothing behind. */
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { demo, ownFolder, remains, served, start, WHOLE_RUN } from './lib/starting.ts'

test('a start with a wrong port says in one line why it fails, and leaves nothing', async () => {
  const run = await start({ env: { PORT: '70000' } }).finished()
  expect(run.status).toBeGreaterThan(0)
  expect(run.err).toMatch(/^PORT must be a port from 1 to 65535, not "70000".*\n$/)
  expect(await remains(run)).toEqual([])
})

/** Variables of the shell that are meant for other servers, the machine, containers and a proxy. */
const NOT_OURS = {
  PGSSLMODE: 'require',
  PGSSL: 'require',
  PGTARGETSESSIONATTRS: 'any',
  PGOPTIONS: '--nonsense=1',
  HOST: 'x86_64-conda-linux-gnu',
  NODE_ENV: 'production',
  NODE_USE_ENV_PROXY: '1',
  HTTP_PROXY: 'http://127.0.0.1:1',
}

test('a start serves demo sales, whatever the shell has set, and Ctrl-C stops all of it', WHOLE_RUN, async () => {
  const folder = join(ownFolder(), 'data with spaces')
  const run = start({ args: ['--data', folder], env: NOT_OURS })
  await run.up()
  expect(run.out()).not.toContain('\x1b')
  expect(await served(`${run.edgeUrl}/sales/demo`)).toContain('<html')
  // Cookies belong to one host, so all parts are at the same.
  expect(new Set(Array.from(run.out().matchAll(/http:\/\/([^:/]+)/g), ([, host]) => host))).toEqual(
    new Set(['127.0.0.1']),
  )
  const signInUrl = /Sign in +(\S+)/.exec(run.out())?.[1] ?? ''
  expect(await served(`${run.edgeUrl}/sales/members`)).toContain(`href="${signInUrl}?return=`)
  expect((await fetch(signInUrl)).status).toBe(200)
  expect(await served(`${run.edgeUrl}/sales/soon`)).toContain('data-at="pre_queue_opens_at_ms"')
  expect(await served(/Mails +(\S+)/.exec(run.out())?.[1] ?? '')).toContain('No mail yet')
  const { products, token } = await demo(run, folder)
  expect(products).toMatchObject([
    { product_id: 'poster', images: [{}] },
    { product_id: 'vinyl', images: [{}] },
  ])
  expect(run.out()).not.toContain(token)
  for (const secret of ['secrets.json', 'admin-token']) expect(statSync(join(folder, secret)).mode & 0o077).toBe(0)

  const stopped = await run.end('SIGINT')
  expect([stopped.status, stopped.err]).toEqual([0, ''])
  expect(stopped.out).toMatch(/Stopped\.\n$/)
  expect(await remains(stopped)).toEqual([])
  expect(globSync('start.*', { cwd: folder })).toEqual([])
  for (const url of [run.originUrl, run.edgeUrl]) await expect(fetch(url)).rejects.toThrow('fetch failed')
})
