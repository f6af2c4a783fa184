/**
 * The fields of an address as its country writes it. The server writes them, and the script exchanges them by the
 * same functions when another country is chosen.
 */
import { type AddressForm, type AddressPart, addressFormOf } from '../../../shared/api/addresses.ts'
import type { AddressField, Delivery } from '../../../shared/api/goods.ts'
import { fill } from '../../../shared/format.ts'
import type { Tag } from '../html.ts'
import type { Words } from '../words/words.ts'

/** The fields of a delivery that are asked for in words; the country has a field of its own. */
type Typed = Exclude<AddressField, 'country'>
type Asked = 'off' | 'optional' | 'required'

// -- Which fields ---------------------------------------------------------------------------------------------------

export interface DeliveryFields {
  readonly country: string | undefined
  readonly form: AddressForm | null
  /** The fields that everyone sees, in rows. */
  readonly rows: readonly (readonly Typed[])[]
  /** The optional fields, which are folded. */
  readonly folded: readonly Typed[]
  readonly required: ReadonlySet<Typed>
}

/**
 * If no country is chosen, the fields are those that any of `countries` has. A field is required if all of them require
 * it.
 */
export function deliveryFields(
  { kind, ask }: Delivery,
  country: string | undefined,
  countries: readonly string[],
): DeliveryFields {
  const form = kind === 'address' ? (country === undefined ? formOfAny(countries) : addressFormOf(country)) : null
  const rows: readonly (readonly Typed[])[] = [...(form?.rows ?? [['name'], ['company']]), ['phone'], ['note']]
  const asked = (name: Typed): Asked => {
    if (form?.required.has(name as AddressPart)) return 'required'
    if (name === 'name' || name === 'company' || name === 'phone' || name === 'note') return ask[name]
    return 'optional'
  }
  const isFolded = (name: Typed) => FOLDED.includes(name) && asked(name) === 'optional'
  const shown = rows.map((row) => row.filter((name) => asked(name) !== 'off' && !isFolded(name)))
  return {
    country,
    form,
    rows: shown.filter((row) => row.length > 0),
    folded: rows.flat().filter(isFolded),
    required: new Set(rows.flat().filter((name) => asked(name) === 'required')),
  }
}

const FOLDED: readonly Typed[] = ['company', 'line2', 'phone', 'note']

function formOfAny(countries: readonly string[]): AddressForm {
  const forms = countries.map((country) => addressFormOf(country))
  const parts = new Set(forms.flatMap(({ rows }) => rows.flat()))
  const [first] = forms
  const rows: readonly AddressPart[][] = [
    ['name'],
    ['company'],
    ['street'],
    ['line2'],
    ['postcode', 'city'],
    ['region'],
  ]
  return {
    rows: rows.map((row) => row.filter((part) => parts.has(part))),
    required: new Set([...(first?.required ?? [])].filter((part) => forms.every(({ required }) => required.has(part)))),
    regions: [],
    postcode: null,
  }
}

// -- Their names ----------------------------------------------------------------------------------------------------

export type AddressWords = Words['address'] & Pick<Words['checkout'], Exclude<Typed, 'line2'> | 'optional'>
type Kind = keyof Words['address']

export function addressWords({ address, checkout }: Words): AddressWords {
  const { optional, name, company, street, postcode, city, region, phone, note } = checkout
  return { ...address, optional, name, company, street, postcode, city, region, phone, note }
}

/** The names that libaddressinput has for the parts of a country; other countries have provinces and postcodes. */
const NAMES: Readonly<Partial<Record<AddressPart, Readonly<Partial<Record<Kind, string>>>>>> = {
  region: {
    state: 'AU BR FM IN MH MP MX MY NG PW US VE VI',
    county: 'IE TW',
    department: 'CO HN NI',
    island: 'BS CV KI KN KY PF SC TV',
    parish: 'BB JM',
    ...{ prefecture: 'JP', area: 'HK', emirate: 'AE', district: 'NR' },
  },
  city: { district: 'HK PE SD SY TR TW', town: 'GB IE NO SE SJ', suburb: 'AU' },
  postcode: { zip: 'FM GU MH MP PR PW US VI', eircode: 'IE', pin: 'IN' },
  street: { block: 'JP' },
}

function nameOf(name: Typed, country: string | undefined, words: AddressWords): string {
  if (country === undefined) return words[name]
  const kinds = Object.entries(NAMES[name as AddressPart] ?? {}) as [Kind, string][]
  const kind = kinds.find(([, countries]) => countries.includes(country))?.[0]
  if (kind !== undefined) return words[kind]
  return name === 'region' ? words.province : words[name]
}

// -- As elements ----------------------------------------------------------------------------------------------------

interface Filled {
  readonly values: Readonly<Partial<Record<string, string>>>
  readonly words: AddressWords
  readonly lang: string
  /** What is wrong with a field, from the server. */
  readonly faultOf?: (name: string) => FaultTags | undefined
}
type Attributes = Readonly<Record<string, string>>
export interface FaultTags {
  readonly attributes: Attributes
  readonly beside: Tag
}

/** The meaning of each field for the browser's autofill (HTML, 4.10.18.7). */
const AUTOCOMPLETE: Readonly<Partial<Record<Typed, string>>> = {
  name: 'name',
  company: 'organization',
  street: 'address-line1',
  line2: 'address-line2',
  postcode: 'postal-code',
  city: 'address-level2',
  region: 'address-level1',
  phone: 'tel',
}

export function addressTags(fields: DeliveryFields, filled: Filled): Tag[] {
  const { folded, rows, country } = fields
  const { values, words, lang, faultOf } = filled
  const shown = rows.map((row) => rowTag(row, fields, filled))
  if (folded.length === 0) return shown
  const isOpen = folded.some((name) => values[name] || faultOf?.(name))
  const names = folded.map((name) => nameOf(name, country, words))
  const what = new Intl.ListFormat(lang, { type: 'unit', style: 'short' }).format(names)
  const inside = folded.map((name) => rowTag([name], fields, filled))
  return [
    ...shown,
    [
      'details',
      { class: 'field fold', ...(isOpen && { open: '' }) },
      ['summary', {}, fill(words.add, { what })],
      ['div', { class: 'fields' }, ...inside],
    ],
  ]
}

/** A fault stands under the row of its field. */
function rowTag(row: readonly Typed[], fields: DeliveryFields, filled: Filled): Tag {
  const faults = row.map((name) => filled.faultOf?.(name)?.beside).filter((fault) => fault !== undefined)
  const sizes = sizesOf(row)
  return [
    'div',
    { class: 'fields entry' },
    ...row.map((name, at): Tag => ['div', { class: `field ${sizes[at]}` }, fieldTag(name, fields, filled)]),
    ...faults,
  ]
}

/** A postcode is short, and shares its row with the part before it, or after it if it comes first. */
function sizesOf(row: readonly Typed[]): readonly string[] {
  const at = row.indexOf('postcode')
  const beside = at > 0 ? at - 1 : 1
  if (at < 0 || row.length === 1) return row.map(() => '')
  return row.map((_, index) => (index === at ? 's' : index === beside ? 'm' : ''))
}

function fieldTag(name: Typed, { country, form, required, folded }: DeliveryFields, filled: Filled): Tag {
  const { values, words, faultOf } = filled
  const label = nameOf(name, country, words)
  const isMarked = !required.has(name) && !folded.includes(name)
  const value = values[name] ?? ''
  const given: Attributes = {
    name,
    ...(AUTOCOMPLETE[name] !== undefined && { autocomplete: AUTOCOMPLETE[name] }),
    ...(required.has(name) && { required: '' }),
    ...faultOf?.(name)?.attributes,
  }
  return ['label', {}, isMarked ? fill(words.optional, { field: label }) : label, controlOf()]

  function controlOf(): Tag {
    if (name === 'note') return ['textarea', { ...given, rows: '2', maxlength: '500' }, value]
    if (name === 'region' && form && form.regions.length > 0) return regionTag(form.regions)
    const isNumber = name === 'postcode' && /^\\d\{\d\}$/.test(form?.postcode ?? '')
    const type = name === 'phone' ? { type: 'tel' } : isNumber ? { inputmode: 'numeric' } : {}
    return ['input', { ...given, ...type, maxlength: '200', value }]
  }

  /** What was typed before stays, also if the list does not have it. */
  function regionTag(regions: readonly string[]): Tag {
    const all = value === '' || regions.includes(value) ? regions : [value, ...regions]
    const options = all.map(
      (region): Tag => ['option', { value: region, ...(region === value && { selected: '' }) }, region],
    )
    return ['select', given, ['option', { value: '' }, words.choose], ...options]
  }
}
