import { expect, it } from 'vitest'
import { type Body, newBody } from '../draft.ts'
import { atOnce, inWords, labelOf, sectionOf } from './field-words.ts'

const sale: Body = {
  products: [
    { product_id: 'a1', name: 'Aurora', currency: 'JPY', variants: [{ variant_id: 'a1-44', options: { size: '44' } }] },
  ],
}

it('knows each field of a sale', () => {
  const { admission, contact, ...fields } = newBody(0)
  const paths = [
    ...Object.keys(fields),
    ...Object.keys(admission as Body).map((name) => `admission.${name}`),
    ...Object.keys(contact as Body).map((name) => `contact.${name}`),
  ]
  expect(paths.filter((path) => labelOf(path, sale) === path)).toEqual([])
  expect([sectionOf('admission.max_inside'), sectionOf('products.3.variants.1.sku')]).toEqual(['rate', 'products'])
})

it('names a field with its product and variant, and reads its value as people do', () => {
  expect(labelOf('products.0.variants.0.total', sale)).toBe('Aurora, 44: units')
  expect(labelOf('products.0', sale)).toBe('Product Aurora')
  expect(inWords('products.0.unit_price_minor', 18_900, sale)).toBe('¥18,900')
  expect(inWords('admission.rate_per_second', 45, sale)).toBe('45 a second')
  expect(inWords('ends_at', null, sale)).toBe('when all is sold')
  expect(inWords('access.proof_of_work', 100_000, sale)).toBe('100,000')
  expect(inWords('oversell_policy', 'cancel_latest', sale)).toBe('cancel the latest')
  expect(inWords('mails', ['turn', 'sent'], sale)).toBe('turn, sent')
  expect(inWords('fees', [{ name: 'Service' }], sale)).toBe('1 entry')
})

it('says what a change does at once', () => {
  expect(atOnce({ path: 'admission.rate_per_second', before: 45, after: 60 })).toBe('the line moves faster')
  expect(atOnce({ path: 'products.0.variants.0.total', before: 1_300, after: 1_500 })).toBe(
    '200 more for sale within 1 s, for those who are next in line',
  )
  expect(atOnce({ path: 'products.0.buffer', before: 0, after: 10 })).toBe('10 fewer for sale within 1 s')
  expect(atOnce({ path: 'products.vinyl', before: { name: 'Vinyl' }, after: undefined })).toBe('for sale no more')
  expect(atOnce({ path: 'contact.retention_days', before: 30, after: 40 })).toBe('nothing')
})
