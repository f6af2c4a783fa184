import { expect, test } from 'vitest'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { note } from '../findings/finding-queries.ts'

const origin = useOrigin()

test('the list has each channel, configured or not, and a test says what became of it', async () => {
  const { body } = await origin.admin('GET', '/alerts')
  expect(body.channels).toMatchObject(
    ['mail', 'slack', 'pagerduty'].map((channel) => ({ channel, target: null, error: null })),
  )
  for (const wrong of [{ mail: 'always' }, { fax: 'off' }])
    expect(await origin.admin('PUT', '/alerts', wrong)).toMatchObject({ status: 422 })
  expect(await origin.admin('PUT', '/alerts', { mail: 'page' })).toMatchObject({
    body: { channels: [{ channel: 'mail', level: 'page' }, {}, {}] },
  })
  await origin.admin('PUT', '/alerts', { mail: 'warn' })
  expect(await origin.admin('POST', '/alerts/test')).toMatchObject({ status: 200, body: { sent: [] } })
})

test('findings of all sales are listed with what to do, those that are open first', async () => {
  const sale = await origin.sale()
  await note(origin.sql(), { sale, product: 'one', kind: 'drift', units: 3 })
  const { body } = await origin.admin('GET', '/findings')
  const all = body.all as { sale: string; closed_at: string | null }[]
  expect(all.find((one) => one.sale === sale)).toMatchObject({
    kind: 'drift',
    product_id: 'one',
    units: 3,
    level: 'watch',
    advice: expect.any(String),
    place: { href: '#stock' },
    closed_at: null,
  })
  const states = all.map(({ closed_at }) => closed_at === null)
  expect(states).toEqual(states.toSorted((a, b) => Number(b) - Number(a)))
})
