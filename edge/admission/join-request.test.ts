/** A place and its admission carry where their visitor came from, by a program's word, a script's or a form's alone. */
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { JoinCounts } from '../../shared/api/internal.ts'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { eventually } from '../testing/clocks.ts'
import { requestsTo } from '../testing/origin.ts'
import { call, TestSale } from '../testing/visitors.ts'

const EDGE = 'https://edge.test'
const HALF_A_DAY_MS = 12 * 3_600_000

const srcOf = (token: string | undefined) => decodeJwt(token ?? '').src

/** Joins by a page's form, as programs may, which are told their token. */
async function joinByForm(sale: TestSale, fields: Record<string, string>, referer?: string) {
  const body = new URLSearchParams(fields).toString()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    ...(referer && { referer }),
  }
  const response = await call(`/sales/${sale.name}/queue`, { method: 'POST', headers, body })
  expect(response.status).toBe(201)
  return response.json<QueueAnswer>()
}

it('a source is in the place, in the admission and in the counts', async () => {
  const sale = await new TestSale().publish()
  const source = { utm_source: 'Newsletter', utm_campaign: 'Spring Drop', referrer: 'https://mail.test/' }
  const { queue_token = '' } = await (await sale.joinWith({ source })).json<QueueAnswer>()
  expect(srcOf(queue_token)).toBe('newsletter spring drop')
  const { admission_token } = await eventually(async () => {
    const now = await sale.statusOf(queue_token)
    return now.status === 'ready' && now
  })
  expect(srcOf(admission_token)).toBe('newsletter spring drop')
  const counted = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    return requests.flatMap(({ query }) => {
      const counts: Partial<JoinCounts> = JSON.parse(new URLSearchParams(query).get('counts') ?? '{}')
      return Object.entries(counts.sources ?? {})
    })
  }
  await expect.poll(counted).toEqual([['newsletter spring drop', 1]])
})

it('a form says its source, and without a script the address of its page does', async () => {
  const sale = await new TestSale().publish()
  const page = `${EDGE}/sales/${sale.name}?utm_source=poster`
  const joins = [
    [{ source: 'utm_source=ads&referrer=search.test' }, page, 'ads'],
    [{ source: 'referrer=search.test' }, page, 'search.test'],
    [{ source: '&&=' }, page, 'poster'],
    [{}, page, 'poster'],
    [{}, `${EDGE}/sales/${sale.name}`, undefined],
    [{}, 'https://www.blog.test/', 'blog.test'],
    [{}, 'no address', undefined],
    [{}, undefined, undefined],
  ] as const
  for (const [fields, referer, label] of joins) {
    const { queue_token } = await joinByForm(sale, fields, referer)
    expect(srcOf(queue_token), JSON.stringify([fields, referer])).toBe(label)
  }
})

it('whoever joins again, or whose place is renewed, keeps the first source', async () => {
  const sale = await new TestSale(600_000).publish()
  const { queue_token = '' } = await (await sale.joinWith({ source: { utm_source: 'ads' } })).json<QueueAnswer>()
  const authorization = `Bearer ${queue_token}`
  await sale.publish({ opensInMs: HALF_A_DAY_MS })
  await sale.push()
  await sale.until((schedule) => Date.parse(schedule.opens_at) - Date.now() > HALF_A_DAY_MS / 2)
  const again = await (await sale.joinWith({ source: { utm_source: 'blog' } }, { authorization })).json<QueueAnswer>()
  expect(again.queue_token).not.toBe(queue_token)
  expect(srcOf(again.queue_token)).toBe('ads')
})

it('a malformed source of a program is refused by its field', async () => {
  const sale = await new TestSale().publish()
  const wrong = [{ source: 'ads' }, { source: { utm_source: 7 } }, { source: { campaign: 'x' } }]
  for (const body of wrong) {
    const response = await sale.joinWith(body)
    expect(response.status, JSON.stringify(body)).toBe(422)
    const { errors } = await response.json<{ errors: { field: string }[] }>()
    expect(errors[0]?.field).toMatch(/^source/)
  }
})
