/** Each request has a name, in its response, in its problem, and in what the origin and the log are told. */
import { afterEach, expect, it, vi } from 'vitest'
import { before, edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { admission, call, TestSale } from '../testing/visitors.ts'

afterEach(() => void vi.restoreAllMocks())

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const nameOf = (response: Response) => response.headers.get('x-request-id')
const RAY = '8f2b1c3d4e5f6a7b-FRA'

it.each(['/', '/healthz', '/robots.txt', '/api', '/nowhere', '/sales/none/schedule'])('names %s', async (path) => {
  const [one, other] = [await call(path), await call(path)]
  expect(nameOf(one)).toMatch(UUID)
  expect(nameOf(other)).not.toBe(nameOf(one))
})

it('a stranger cannot name a request; Cloudflare does', async () => {
  const headers = { 'x-request-id': crypto.randomUUID(), 'cf-ray': RAY }
  const forged = await call('/nowhere', { headers })
  expect(nameOf(forged)).toMatch(UUID)
  expect(nameOf(forged)).not.toBe(headers['x-request-id'])
  const atCloudflare = (ray: string) => call('/nowhere', { headers: { 'cf-ray': ray }, cf: { colo: 'FRA' } })
  expect(nameOf(await atCloudflare(RAY))).toBe(RAY)
  expect(nameOf(await atCloudflare('anything else'))).toMatch(UUID)
})

it('a problem names its request, as JSON and as a page', async () => {
  const json = await call('/nowhere', { headers: { accept: 'application/json' } })
  expect(await json.json()).toMatchObject({ type: '/problems/not-found', request_id: nameOf(json) })
  const page = await call('/nowhere', { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain(`404 not-found ${nameOf(page)}`)
  const misconfigured = await call('/', {}, { ...edgeEnv, QUEUE_KEYS: 'none' })
  expect(await misconfigured.json()).toMatchObject({ request_id: nameOf(misconfigured) })
})

it('the origin is told the name, and so is the log when it does not serve', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/checkout`
  const headers = { authorization: `Bearer ${await admission(sale.name)}`, 'idempotency-key': 'k' }
  const buy = () => call(path, { method: 'POST', headers: { ...headers, 'x-request-id': 'mine' }, body: '{}' })
  await stub(path, 410, { type: '/problems/sold-out', status: 410 }, 0, { 'x-request-id': 'of-the-origin' })
  const passed = await buy()
  expect((await requestsTo(path)).requests[0]?.headers['x-request-id']).toBe(nameOf(passed))
  await stub(path, 0, {})
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const failed = await buy()
  const lines = warned.mock.calls.map(([line]) => JSON.parse(String(line)))
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'origin did not serve', request: nameOf(failed) }))
})

it('a site behind this Worker is told the name, and its response has no other', async () => {
  const sale = await new TestSale().publish()
  const path = `/open-${crypto.randomUUID()}`
  await stub(path, 200, {}, 0, { 'x-request-id': 'of-the-site' })
  const env = before({ sale: sale.name, paths: ['/tickets*'] })
  const response = await call(path, { headers: { 'x-request-id': 'mine' } }, env)
  expect((await requestsTo(path)).requests[0]?.headers['x-request-id']).toBe(nameOf(response))
})
