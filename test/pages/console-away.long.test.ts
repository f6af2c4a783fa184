/** The console while Postgres is away: each page says so under its own title, and reads again by itself. */
import { describe } from 'vitest'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { DESK } from '../lib/axe.ts'
import { storyTest } from '../lib/in-browser.ts'
import { ADMIN_TOKEN, useOwnOrigin } from '../lib/origin-process.ts'
import { useReturning } from '../lib/servers.ts'
import { hasBrowser } from '../run/shared-part.ts'

const test = storyTest(/the server responded with a status of [45]|net::ERR/)
const [ledger, gate] = await Promise.all([useReturning(startPostgres), useReturning(startRedis)])
const AWAY = /Postgres or Redis does not answer/

describe.skipIf(!hasBrowser)('the console', () => {
  const origin = useOwnOrigin(() => ({ databaseUrl: ledger.url, redisUrl: gate.url }))

  test('says that Postgres is away, and reads each page again once it is back', async ({ newPage, expect }) => {
    const sale = await origin.sale()
    const page = await newPage({ viewport: DESK, baseURL: origin.url() })
    await page.goto('/console')
    await page.getByLabel('Your key').fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor()
    await ledger.kill()
    const titles: [path: string, title: string][] = [
      ['/orders', 'Orders'],
      ['/webhooks', 'Webhooks'],
      ['/queues', 'Queues'],
      [`/sales/${sale}/feed`, 'Feed'],
      [`/sales/${sale}/report`, 'Report'],
    ]
    for (const [path, title] of titles) {
      await page.goto(`/console${path}`)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page.getByRole('alert').getByText(AWAY).first().waitFor()
    }
    await ledger.start()
    await page.getByRole('heading', { level: 1, name: 'Report' }).waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await page.getByRole('heading', { name: 'Payments' }).count()).toBe(1)
  })
})
