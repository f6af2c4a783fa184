/** The countries to which a sale delivers, with their names in the visitor's language. */
import type { Delivery } from '../../../shared/api/goods.ts'
import { WITHOUT_POSTCODES } from '../../../shared/api/goods.ts'
import { RecentMap } from '../../../shared/lib/recent-map.ts'

/** The countries of ISO 3166-1, for a sale that delivers everywhere. */
export const EVERYWHERE: readonly string[] = (
  'AD AE AF AG AI AL AM AO AR AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD ' +
  'CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO FR GA GB GD ' +
  'GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IQ IR IS IT JE JM JO JP KE KG KH KI ' +
  'KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV ' +
  'MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW ' +
  'SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ ' +
  'UA UG US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ')

/** The countries whose addresses need a state or province. */
const WITH_REGIONS = ['AU', 'BR', 'CA', 'CN', 'ID', 'IN', 'IT', 'JP', 'MX', 'MY', 'US']

/** The countries of a delivery, without those that have no price. */
export function countriesOf({ countries: wanted, prices }: Delivery): readonly string[] {
  const countries: readonly string[] = wanted ?? EVERYWHERE
  if (!prices || prices.some((price) => !price.countries)) return countries
  return countries.filter((country) => prices.some((price) => price.countries?.includes(country)))
}

export const lacksPostcodes = (countries: readonly string[]) => countries.some((one) => WITHOUT_POSTCODES.has(one))
export const needsRegion = (countries: readonly string[]) => countries.some((one) => WITH_REGIONS.includes(one))

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
