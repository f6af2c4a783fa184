import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anySale } from '../testing/listed-sale.ts'
import { entriesOf } from './entries.ts'
import { partsOf } from './marks.ts'
import { SearchIndex } from './search-index.ts'
import { wordsOf } from './words.ts'

const SALES = [
  anySale('pizza', 'Pizza oven night', { venue: 'New York Loft' }),
  anySale('slices', 'Pizza by the slice', { venue: 'Rome' }),
  anySale('arnold', 'Schwarzenegger in person', { venue: 'Grand Hall' }),
  anySale('house', 'The house of cards', {
    products: [{ product_id: 'cards', name: 'A deck', description: { en: 'For a long evening by the fire.' } }],
  }),
  anySale('cafe', 'Café Noir', {
    products: [{ product_id: 'cup', name: 'Cup', names: { ja: '珈琲カップ' }, tags: ['Crème'] }],
  }),
  anySale('shirts', 'Summer cotton', {
    products: [{ product_id: 'tee', name: 'T-shirt', description: { en: 'Cut in one piece, dyed by hand.' } }],
  }),
  anySale('socks', 'Winter wool', { products: [{ product_id: 'sweat', name: 'Sweatshirt', tags: ['warm'] }] }),
  anySale('aurora', 'Aurora One', {
    products: [{ product_id: 'shoe', name: 'Shoe', names: { ar: 'أورورا' }, tags: ['aurora'] }],
  }),
]
const SYNONYMS = [
  ['home', 'house', 'residence', 'dwelling'],
  ['NYC', 'New York'],
]
const index = SearchIndex.over(entriesOf({ sales: SALES }), SYNONYMS)
const find = (q: string, lang: 'en' | 'ja' = 'en') => index.search(q, { lang, limit: 20 })
const sales = (q: string) => [...new Set(find(q).hits.map(({ entry }) => entry.sale))]

describe('finds', () => {
  it.each([
    ['pizzza', ['pizza', 'slices'], 'pizza'],
    ['Swarzeneger', ['arnold'], 'schwarzenegger'],
    ['HOUPE', ['house'], 'house'],
    ['rote', ['slices'], 'rome'],
    ['pizzza in newyork', ['pizza'], 'pizza in new york'],
  ])('%s in spite of typing errors and sounds, and says what was meant', (q, found, meant) => {
    expect(new Set(sales(q))).toEqual(new Set(found))
    expect(find(q)).toMatchObject({ corrected: meant, did_you_mean: meant })
  })

  it.each([
    ['newyork', ['pizza'], 'new york'],
    ['sweat shirt', ['socks'], undefined],
    ['tshirt', ['shirts'], 't-shirt'],
    ['t shirt', ['shirts'], undefined],
  ])('%s, written together or apart', (q, found, corrected) => {
    expect(sales(q)).toEqual(found)
    expect(find(q).corrected).toBe(corrected)
    expect(find(q).did_you_mean).toBeUndefined()
  })

  it.each([
    ['cafe', ['cafe']],
    ['CAFÉ', ['cafe']],
    ['creme', ['cafe']],
    ['home', ['house']],
    ['dwelling', ['house']],
    ['nyc', ['pizza']],
    ['the house', ['house']],
    ['the', ['house', 'slices']],
    ['fire evening', ['house']],
    ['カップ', ['cafe']],
    ['اورورا', ['aurora']],
    ['auro', ['aurora']],
    ['grand hall', ['arnold']],
  ])('%s', (q, found) => {
    expect(new Set(sales(q))).toEqual(new Set(found))
    expect(find(q).did_you_mean).toBeUndefined()
  })

  it('three misspelt words, and no more of them', () => {
    const [typed, corrected] = ['pizzza Swarzeneger HOUPE summmer wintr', 'pizza schwarzenegger house summmer wintr']
    expect(find(typed).corrected).toBe(corrected)
    expect(index.complete('pizzza Swarzeneger HOUPE summmer wint', 5)).toEqual([])
  })

  it('nothing for what nothing is like', () => {
    expect(find('xylophone')).toMatchObject({ query: 'xylophone', hits: [] })
    expect(find('xylophone').did_you_mean).toBeUndefined()
    for (const empty of ['', '  ', '-', '\u0301']) expect(find(empty).hits).toEqual([])
  })

  it('what has all words, and where nothing has, what has any', () => {
    expect(sales('pizza rome')).toEqual(['slices'])
    expect(new Set(sales('pizza schwarzenegger'))).toEqual(new Set(['arnold', 'pizza', 'slices']))
  })
})

it('ranks a title above tags, tags above a description, and that above the rest', () => {
  const products = [{ product_id: 'p', name: 'Other' }]
  const sales = [
    anySale('body', 'Plain', { shop: 'Lamp' }),
    anySale('described', 'Plain', { products: [{ ...products[0], description: { en: 'Lamp' } }] as never }),
    anySale('tagged', 'Plain', { products: [{ ...products[0], tags: ['Lamp'] }] as never }),
    anySale('titled', 'Lamp'),
  ]
  const ranked = SearchIndex.over(entriesOf({ sales }), [])
  const found = ranked.search('lamp', { lang: 'en', limit: 20 }).hits.map(({ entry }) => entry.sale)
  expect([...new Set(found)]).toEqual(['titled', 'tagged', 'described', 'body'])
})

it('completes what is typed, with words that occur together', () => {
  expect(index.complete('piz', 5)).toEqual(['pizza', 'pizza oven'])
  expect(index.complete('grand ha', 5)).toContain('grand hall')
  expect(index.complete('pizza sch', 5)).toEqual([])
  expect(index.complete('pizza ', 5)).toEqual([])
})

it('shows a title in the language of the page, and a piece of the text around what was found', () => {
  expect(find('カップ', 'ja').hits[0]?.title).toBe('珈琲カップ')
  const description = { en: `${'So bright it is. '.repeat(30)}It shines. ${'On and on. '.repeat(30)}` }
  const long = anySale('long', 'Long', { products: [{ product_id: 'l', name: 'Lamp', description }] })
  const [hit] = SearchIndex.over(entriesOf({ sales: [long] }), []).search('shines', { lang: 'en', limit: 1 }).hits
  expect(hit?.snippet).toMatch(/^… .*It shines\. .* …$/)
  expect(hit?.snippet.length).toBeLessThan(180)
})

it('marks whole words, and of longer ones what was typed', () => {
  const marks = (q: string, text: string) =>
    partsOf(text, find(q).marked)
      .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
      .join('')
  expect(marks('auro', 'Aurora One')).toBe('[Auro]ra One')
  expect(marks('cafe', 'Café Noir')).toBe('[Café] Noir')
  expect(marks('pizzza in newyork', 'Pizza in New York')).toBe('[Pizza] in [New] [York]')
})

it.each(['Größe', 'Gro\u0308ße', 'ポスター', 'ﾎﾟｽﾀｰ', 'Ｓｉｚｅ'])('splits %s alike in each form of Unicode', (text) => {
  const normal = text.normalize('NFKC')
  const given = `an ${text}, ${text}`
  const words = wordsOf(given)
  expect(words.map(({ term }) => term)).toEqual(wordsOf(given.normalize('NFKC')).map(({ term }) => term))
  expect(given.slice(words[1]?.from, words.at(-1)?.to)).toBe(`${text}, ${text}`)
  expect(wordsOf(normal).map(({ term }) => term)).toEqual(wordsOf(text).map(({ term }) => term))
})

describe('of any text', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 60 })

  it('says something, and never fails', () => {
    fc.assert(fc.property(text, (q) => find(q).query === q && Array.isArray(index.complete(q, 5))))
  })

  it('the marked parts are the text', () => {
    fc.assert(
      fc.property(text, text, (q, other) => {
        const own = SearchIndex.over(entriesOf({ sales: [anySale('s', q)] }), [])
        const { marked } = own.search(q, { lang: 'en', limit: 1 })
        for (const shown of [q, other, q + other]) {
          const parts = partsOf(shown, marked).map((part) => part.text)
          expect(parts.join('')).toBe(shown)
        }
      }),
    )
  })

  it('finds a sale by each word of its name, in any case, and by a word with one error', () => {
    const word = fc.stringMatching(/^[b-z]{5,12}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.nat(), (words, at) => {
        const one = SearchIndex.over(entriesOf({ sales: [anySale('s', words.join(' '))] }), [])
        const finds = (q: string) => one.search(q, { lang: 'en', limit: 5 }).hits.length > 0
        for (const each of words) {
          const place = at % each.length
          expect(finds(each.toUpperCase())).toBe(true)
          expect(finds(`${each.slice(0, place)}a${each.slice(place + 1)}`), each).toBe(true)
          expect(finds(`${each.slice(0, place)}a${each.slice(place)}`), each).toBe(true)
        }
      }),
    )
  })
})
