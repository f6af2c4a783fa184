/** The variants that result from a product's options: each combination once, with its earlier values. Pure. */
import { spread } from '../../../../../shared/bill.ts'
import { type Body, freeId, idFrom, type Json } from '../sale-form/draft.ts'

export type Option = { readonly name: string; readonly values: readonly string[] }
export type Variant = Body & {
  readonly variant_id: string
  readonly options: { readonly [option: string]: string }
}

/** The form accepts one variant more than the API, so that the API explains the limit. */
const MOST = 101

export const optionsOf = (product: Body) => (product.options ?? []) as unknown as readonly Option[]
export const variantsOf = (product: Body) => (product.variants ?? []) as unknown as readonly Variant[]

/** The values of an option, which are written as "38, 39, 40" or one in each line. */
export const valuesIn = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/[,;\n]/)
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  ),
]

/** The name that people read, for example "42, black". */
export const labelOf = ({ options }: Variant) => Object.values(options).join(', ')

function combinationsOf(options: readonly Option[]): readonly Variant['options'][] {
  const chosen = options.filter(({ values }) => values.length > 0)
  if (chosen.length === 0) return []
  return chosen.reduce<readonly Variant['options'][]>(
    (rows, { name, values }) =>
      rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))).slice(0, MOST),
    [{}],
  )
}

const keyOf = (options: readonly Option[], chosen: Variant['options']) =>
  JSON.stringify(options.map(({ name }) => chosen[name] ?? null))

interface Change {
  /** The options of the existing variants, without a removed option. */
  readonly before: readonly Option[]
  readonly after: readonly Option[]
  readonly variants: readonly Variant[]
  /** Variants that were removed before, which return with their values. */
  readonly remembered?: readonly Variant[]
  /** The prefix of the ids of new variants. */
  readonly base: string
  /** The ids that the sale already uses. */
  readonly taken: readonly string[]
}

/**
 * Returns the variants after a change of the options. If the list of values keeps its length, the value at the same
 * place is the old one, renamed; otherwise values are matched by their text. A new option starts with its first
 * value.
 */
export function variantsAfter({ before, after, variants, remembered = [], base, taken }: Change): readonly Variant[] {
  const known = new Map<string, Variant>()
  const moved = variants.map((variant) => ({ ...variant, options: chosenAfter(variant, before, after) }))
  for (const variant of [...moved, ...remembered]) {
    const key = keyOf(after, variant.options)
    if (!known.has(key)) known.set(key, variant)
  }
  const combinations = combinationsOf(after)
  const kept = combinations.map((options) => known.get(keyOf(after, options)))
  const ids = [...taken, ...kept.flatMap((variant) => variant?.variant_id ?? [])]
  return combinations.map((options, i) => {
    const one = kept[i]
    if (one) return { ...one, options }
    const variant_id = freeId([base, ...Object.values(options)].join(' '), ids, 'variant')
    ids.push(variant_id)
    return { variant_id, options, total: '' }
  })
}

function chosenAfter(variant: Variant, before: readonly Option[], after: readonly Option[]): Variant['options'] {
  const chosen = after.flatMap(({ name, values }, i) => {
    const was = before[i]
    const value = was ? variant.options[was.name] : values[0]
    const place = was?.values.length === values.length ? was.values.indexOf(value ?? '') : -1
    const now = values[place] ?? value
    return now === undefined ? [] : [[name, now] as const]
  })
  return Object.fromEntries(chosen)
}

/** The sum of all variants' units, or null while one of them is not a number. */
export function unitsOf(variants: readonly Variant[]): number | null {
  const totals = variants.map(({ total }) => total as Json)
  return totals.every((total) => typeof total === 'number') ? totals.reduce((sum: number, one) => sum + one, 0) : null
}

interface OptionsChange {
  readonly before: readonly Option[]
  readonly after: readonly Option[]
  /** Variants that were removed before, which return with their values. */
  readonly remembered: readonly Variant[]
  /** The ids that the sale already uses. */
  readonly taken: readonly string[]
}

/**
 * The product after a change of its options. With variants, units are counted by variant, and without them by product
 * again; neither change loses a unit.
 */
export function withOptions(product: Body, { before, after, remembered, taken }: OptionsChange): Body {
  const variants = variantsOf(product)
  const base = String(product.product_id) || idFrom(String(product.name))
  const next = variantsAfter({ before, after, variants, remembered, base, taken })
  const { options: _, variants: __, ...rest } = product
  const isSplit = next.length > 0
  const units = isSplit
    ? { total: 0, buffer: 0 }
    : variants.length > 0
      ? { total: unitsOf(variants) ?? '', buffer: bufferOf(variants) }
      : {}
  return {
    ...rest,
    ...units,
    ...(after.length > 0 && { options: after }),
    ...(isSplit && { variants: sharedOut(product, variants, next) }),
  }
}

const bufferOf = (variants: readonly Variant[]) =>
  variants.reduce((sum, { buffer }) => sum + (typeof buffer === 'number' ? buffer : 0), 0)

/**
 * Shares the units of a product evenly among its first variants, and again among those that are added as long as
 * nobody has typed other units and none of them is saved. Units that are withheld are shared alike.
 */
function sharedOut(product: Body, before: readonly Variant[], next: readonly Variant[]): readonly Variant[] {
  if (next.some(({ sold }) => sold !== undefined)) return next
  return (['total', 'buffer'] as const).reduce<readonly Variant[]>((list, field) => {
    const had = before.length === 0 ? [product[field]] : before.map((variant) => variant[field] ?? 0)
    const units = had.reduce<number>((sum, one) => sum + (typeof one === 'number' ? one : 0), 0)
    const even = evenShares(units, had.length)
    if (units === 0 || had.some((one, i) => one !== even[i])) return list
    const shares = evenShares(units, list.length)
    return list.map((variant, i) => ({ ...variant, [field]: shares[i] ?? 0 }))
  }, next)
}

const evenShares = (units: number, many: number) =>
  spread(
    units,
    Array.from({ length: many }, () => 1),
  )
