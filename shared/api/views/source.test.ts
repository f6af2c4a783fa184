/** The label of a source is short, bounded, and names no person. */
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { MAX_LABEL, OTHER_SOURCE, type Source, SourceLabel, sourceIn, sourceLabel, TYPED } from './source.ts'

test.each<[Source, string]>([
  [{}, TYPED],
  [{ utm_source: '' }, TYPED],
  [{ utm_source: 'Newsletter' }, 'newsletter'],
  [{ utm_source: 'Newsletter', utm_campaign: 'Black Friday 2026' }, 'newsletter black friday 2026'],
  [{ utm_source: 'mail', utm_campaign: 'drop-20261129' }, 'mail drop-20261129'],
  [{ utm_source: 'Über uns' }, 'uber uns'],
  [{ referrer: 'https://www.example.org/a/path?with=this' }, 'example.org'],
  [{ referrer: 'news.example.org' }, 'news.example.org'],
  [{ referrer: 'https://example.org:8443/' }, 'example.org'],
  [{ referrer: 'android-app://com.shop.app/' }, 'com.shop.app'],
  [{ utm_source: 'ads', referrer: 'https://example.org/' }, 'ads'],
  [{ utm_campaign: 'alone' }, TYPED],
  [{ utm_source: '   ' }, TYPED],
  [{ utm_source: '__proto__' }, 'proto__'],
  [{ utm_source: 'constructor' }, OTHER_SOURCE],
])('the label of %j is %s', (source, label) => expect(sourceLabel(source)).toBe(label))

test.each([
  'ann.lee@example.org',
  'ann.lee%40example.org',
  '+49 170 1234567',
  'customer-48151623',
  'EAIaIQobChMI8vT5mZ2B9gIVxoKDBx1',
  '550e8400-e29b-41d4-a716-a46655e40000',
  'a1b2c3d4e5f6a7b8',
])('%s could name a person, so no label has it', (text) => {
  expect(sourceLabel({ utm_source: text, utm_campaign: 'spring' })).toBe(OTHER_SOURCE)
  expect(sourceLabel({ utm_source: 'mail', utm_campaign: text })).toBe('mail')
})

/** Any character. The library's own unit for this takes two seconds to be made. */
const character = fc
  .integer({ min: 0, max: 0x10_ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
const anyText = fc.oneof(fc.string({ unit: character, maxLength: 80 }), fc.webUrl(), fc.emailAddress())
const anySource = fc.record(
  { utm_source: anyText, utm_medium: anyText, utm_campaign: anyText, referrer: anyText },
  { requiredKeys: [] },
)

test('every label is one that a token may carry', () => {
  fc.assert(
    fc.property(anySource, (source) => {
      const label = sourceLabel(source)
      expect([v.is(SourceLabel, label), label.length <= MAX_LABEL]).toEqual([true, true])
    }),
  )
})

test('an address gives its parameters alone', () => {
  const parameters = new Map([
    ['lang', 'de'],
    ['utm_source', 'ads'],
    ['utm_campaign', ''],
  ])
  expect(sourceIn({ get: (name) => parameters.get(name) ?? null })).toEqual({ utm_source: 'ads' })
})
