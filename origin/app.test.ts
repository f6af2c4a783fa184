import { Hono } from 'hono'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { assert } from '../shared/lib/assert.ts'
import { PROBLEM_TYPES } from '../shared/problem.ts'
import { createApp } from './app.ts'
import { TimeoutError } from './lib/with-timeout.ts'

test('logs which call has failed, and never which person it was about', async () => {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const admin = new Hono()
    .delete('/visitors/slow', () => Promise.reject(new TimeoutError('too slow')))
    .delete('/visitors/:visitor', () => Promise.reject(new Error('broken')))
    .get('/sales/:sale', () => Promise.reject(new Error('broken')))
  const app = createApp({ routes: { '/admin': admin }, log })
  const statuses = []
  for (const path of ['/admin/visitors/user%3Aada%40shop.example', '/admin/visitors/slow'])
    statuses.push((await app.request(path, { method: 'DELETE' })).status)
  statuses.push((await app.request('/admin/sales/drop')).status)
  expect(statuses).toEqual([500, 503, 500])
  expect(lines.map((line) => JSON.parse(line).path)).toEqual([
    '/admin/visitors/..',
    '/admin/visitors/..',
    '/admin/sales/drop',
  ])
})

test('operators learn that a store is away, and buyers that the shop is busy', async () => {
  const away = () => new Hono().get('/', () => Promise.reject(new TimeoutError('too slow')))
  const app = createApp({ routes: { '/admin/sales': away(), '/sales': away() }, log: pino({ level: 'silent' }) })
  const detailOf = async (path: string) => ((await (await app.request(path)).json()) as { detail: string }).detail
  expect(await detailOf('/admin/sales')).toContain('Postgres or Redis does not answer')
  expect(await detailOf('/sales')).toBe('The shop is busy.')
})

test('a failed assertion is a 500 problem of its own call, without the sentence', async () => {
  const sale = new Hono().get('/', (c) => {
    assert(c.req.query('state') === 'known', 'The state is known.')
    return c.text('fine')
  })
  const app = createApp({ routes: { '/sale': sale }, log: pino({ level: 'silent' }) })
  const wrong = await app.request('/sale')
  expect([wrong.status, wrong.headers.get('content-type')]).toEqual([500, 'application/problem+json'])
  const body = await wrong.json()
  expect(body).toMatchObject({ type: '/problems/internal-error' })
  expect(JSON.stringify(body)).not.toContain('The state is known')
  expect((await app.request('/sale?state=known')).status).toBe(200)
})

test('explains each type of problems', async () => {
  const app = createApp({ routes: {}, log: pino({ level: 'silent' }) })
  for (const type of PROBLEM_TYPES) expect((await app.request(`/problems/${type}`)).status).toBe(200)
  expect(await (await app.request('/problems/sold-out')).text()).toContain('All units are sold.')
  expect((await app.request('/problems/constructor')).status).toBe(404)
})
