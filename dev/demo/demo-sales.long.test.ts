/** `npm start` makes the demo sales even while a store is still recovering, and never fails because of them. */
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { useRedis, useReturning } from '../../test/lib/servers.ts'
import { startPostgres } from '../servers/postgres.ts'
import { ensureDemos } from './demo-sales.ts'

// The demo is a process of its own; here another test may have loaded the origin, which reads no SVG.
const svg = { operation: ['VipsForeignLoadSvg'] }
beforeAll(() => sharp.unblock(svg))
afterAll(() => sharp.block(svg))

const postgres = await useReturning(startPostgres)
const redis = useRedis()
const origin = useOwnOrigin(() => ({ databaseUrl: postgres.url, redisUrl: redis.url }))

test('waits as long as the origin says while Postgres restarts, and warns of what cannot be made', async () => {
  const warnings: string[] = []
  await postgres.kill()
  expect((await origin.admin('GET', '/sales/hall')).status).toBe(503)
  const demos = ensureDemos({ originUrl: origin.url(), adminToken: ADMIN_TOKEN }, true, (line) => warnings.push(line))
  await postgres.start()
  const hall = async () => [(await origin.admin('GET', '/sales/hall')).status, ...warnings]
  await expect.poll(hall).toEqual([200])
  await origin.stop()
  await demos
  expect(warnings.at(-1)).toMatch(/^The demo sale "demo" is left out: /)
})
