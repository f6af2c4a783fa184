/** The parts of an address, their order and what is required, by country. */
import { expect, it } from 'vitest'
import { addressFormOf, addressLines, isPostcode } from './addresses.ts'
import { COUNTRIES } from './countries.ts'

it.each([
  ['DE', 'name/company/street/line2/postcode city', 'name street city postcode'],
  ['FR', 'company/name/street/line2/postcode city', 'name street city postcode'],
  ['US', 'name/company/street/line2/city region postcode', 'name street city region postcode'],
  ['JP', 'postcode region/city/street/line2/company/name', 'name street city region postcode'],
  ['HK', 'name/company/street/line2/city/region', 'name street region'],
  ['IE', 'name/company/street/line2/city/region/postcode', 'name street city'],
  ['SG', 'name/company/street/line2/postcode', 'name street postcode'],
  ['CW', 'name/company/street/line2/city', 'name street city'],
  ['XK', 'name/company/street/line2/postcode city', 'name street city'],
])('%s writes %s and needs %s', (country, rows, required) => {
  const form = addressFormOf(country)
  expect(form.rows.map((row) => row.join(' ')).join('/')).toBe(rows)
  expect([...form.required].join(' ')).toBe(required)
})

it('has a name and a street once in every country, and requires nothing that the country does not write', () => {
  for (const country of [...COUNTRIES, undefined]) {
    const { rows, required, regions } = addressFormOf(country)
    const parts = rows.flat()
    expect(new Set(parts).size, country).toBe(parts.length)
    expect(parts, country).toEqual(expect.arrayContaining(['name', 'street', ...required]))
    expect(new Set(regions).size, country).toBe(regions.length)
  }
})

it.each([
  ['DE', ['10119', ' 10119 ', 'D-10119', '１０１１９'], ['1011', '101190', 'Berlin']],
  ['GB', ['EC1A 1BB', 'm1 1ae'], ['EC1A']],
  ['US', ['97205', '97205-1234'], ['9720']],
  ['HK', ['any'], []],
])('knows a postcode of %s', (country, right, wrong) => {
  expect(right.filter((text) => !isPostcode(country, text))).toEqual([])
  expect(wrong.filter((text) => isPostcode(country, text))).toEqual([])
})

it('writes an address as on its parcel, and loses nothing that the country does not write', () => {
  const ada = { name: 'Ada Lindqvist', street: 'Elm Row 12', postcode: '10119', city: 'Berlin', country: 'DE' }
  expect(addressLines(ada, 'de')).toEqual(['Ada Lindqvist', 'Elm Row 12', '10119 Berlin', 'Deutschland'])
  expect(addressLines({ ...ada, city: 'Wan Chai', country: 'HK' }, 'en').slice(2)).toEqual([
    'Wan Chai',
    '10119',
    'Hong Kong SAR China',
  ])
})
