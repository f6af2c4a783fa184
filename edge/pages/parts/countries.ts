/** The countries to which a sale delivers, with their names in the visitor's language. */

import { COUNTRIES } from '../../../shared/api/countries.ts'
import type { Delivery } from '../../../shared/api/goods.ts'
import { RecentMap } from '../../../shared/lib/recent-map.ts'

/** The countries of a delivery, without those that have no price. */
export function countriesOf({ countries: wanted, prices }: Delivery): readonly string[] {
  const countries: readonly string[] = wanted ?? COUNTRIES
  if (!prices || prices.some((price) => !price.countries)) return countries
  return countries.filter((country) => prices.some((price) => price.countries?.includes(country)))
}

export const countryName = (lang: string, country = '') =>
  /^[A-Z]{2}$/.test(country) ? (new Intl.DisplayNames(lang, { type: 'region' }).of(country) ?? country) : country

/** The lists are cached, because naming and sorting all countries takes milliseconds. Sales and languages are few. */
const MAX_LISTS = 100
const lists = new RecentMap<string, readonly (readonly [code: string, name: string])[]>(MAX_LISTS)

/** The names are sorted by the rules of the language. */
export const countryNames = (lang: string, countries: readonly string[]) =>
  lists.getOrAdd(`${lang} ${countries.join('')}`, () => {
    const names = new Intl.DisplayNames(lang, { type: 'region' })
    const sorter = new Intl.Collator(lang)
    return countries
      .map((code) => [code, names.of(code) ?? code] as const)
      .toSorted(([, a], [, b]) => sorter.compare(a, b))
  })
