/** A sale that is being edited: the body of the PUT, and its errors. Pure. */
import * as v from 'valibot'
import { SaleId } from '../../../../../shared/api/fields.ts'
import { productGoods } from '../../../../../shared/api/goods.ts'
import { SaleConfig } from '../../../../../shared/api/operators/sale-config.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export type Body = { readonly [name: string]: Json }
/** The errors, by the path of the field (`products.0.total`). */
export type Wrong = ReadonlyMap<string, string>

const DAY_MS = 86_400_000

/**
 * The opening is at noon of the next day by the operator's clock, so that a sale saved by mistake does not open at
 * once.
 */
export function newBody(nowMs: number): Body {
  const noon = new Date(nowMs + DAY_MS)
  noon.setHours(12, 0, 0, 0)
  return {
    ...defaults(),
    name: '',
    opens_at: noon.toISOString(),
    products: [newProduct([])],
    admission: { rate_per_second: 50, max_inside: null },
  }
}

/** The default values of the schema. */
function defaults(): Body {
  const { products: _, ...rest } = v.parse(SaleConfig, {
    name: 'x',
    opens_at: '2000-01-01T00:00:00Z',
    products: [{ product_id: 'x', name: 'x', unit_price_minor: 0, currency: 'EUR', total: 0 }],
    admission: { rate_per_second: 1 },
  })
  return rest as unknown as Body
}

export function newProduct(others: readonly Json[]): Body {
  const last = others.at(-1) as Body | undefined
  return { product_id: '', name: '', unit_price_minor: '', currency: last?.currency ?? 'EUR', total: '', buffer: 0 }
}

/**
 * Names a product. Its id follows the name until somebody types another id, or the product is saved: `saved` has the
 * ids of the saved products.
 */
export function namedProduct(body: Body, i: number, name: string, saved: readonly string[]): Body {
  const products = (body.products ?? []) as readonly Body[]
  const { product_id: id, name: before } = products[i] as Body
  const others = products.filter((_, at) => at !== i).map(({ product_id }) => String(product_id))
  const isSuggested = id === '' || id === freeId(String(before), others)
  const isFree = isSuggested && !saved.includes(String(id))
  const named = { ...products[i], name, ...(isFree && { product_id: freeId(name, others) }) }
  return { ...body, products: products.with(i, named) }
}

/** Suggests an id that is not taken yet; an empty one for a name without Latin letters and digits. */
export function freeId(name: string, taken: readonly string[], otherwise = ''): string {
  const id = idFrom(name) || otherwise
  for (let n = 1; id !== ''; n++) {
    const one = n === 1 ? id : `${id}-${n}`
    if (!taken.includes(one)) return one
  }
  return id
}

/** Copies everything except the id. The times move to the next possible day and keep their hour. */
export function copyOf(sale: Body, nowMs: number): Body {
  const config = configOf(sale) ?? sale
  const opens = new Date(String(config.opens_at))
  const moved = new Date(opens)
  const today = new Date(nowMs)
  moved.setFullYear(today.getFullYear(), today.getMonth(), today.getDate())
  moved.setDate(moved.getDate() + 1)
  const byMs = moved.getTime() - opens.getTime()
  const later = (at: Json | undefined) =>
    typeof at === 'string' ? new Date(Date.parse(at) + byMs).toISOString() : (at ?? null)
  const { pre_queue_opens_at: lobby, ends_at: ends } = config
  return { ...config, opens_at: moved.toISOString(), ends_at: later(ends), pre_queue_opens_at: later(lobby) }
}

/** Suggests an id for a name. */
export const idFrom = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 48)
    .replace(/-$/, '')

/** The sale as the API will parse it, without fields that only a GET has; undefined if it has errors. */
export function configOf(body: Body): Body | undefined {
  const read = v.safeParse(SaleConfig, withoutSections(body))
  if (!read.success) return undefined
  const known = Object.keys(SaleConfig.entries)
  const isSet = ([name]: [string, unknown]) => known.includes(name) && !READ_ONLY.has(name)
  const products = (read.output.products as unknown as readonly Body[]).map((product) => ({
    ...without(product, READ_ONLY_OF_PRODUCTS),
    ...(product.variants && {
      variants: (product.variants as readonly Body[]).map((one) => without(one, READ_ONLY_OF_VARIANTS)),
    }),
  }))
  return { ...(Object.fromEntries(Object.entries(read.output).filter(isSet)) as Body), products }
}

/**
 * Converts a sale from a GET for editing. A variant with its product's price gets no own price, so that it follows
 * the product.
 */
export const fromRead = (sale: Body): Body => ({
  ...sale,
  products: ((sale.products ?? []) as readonly Body[]).map(({ variants, ...product }) => ({
    ...product,
    ...(variants && {
      variants: (variants as readonly Body[]).map((one) =>
        one.unit_price_minor === product.unit_price_minor ? without(one, ['unit_price_minor']) : one,
      ),
    }),
  })),
})

/** True for a section of a hall. Sections are among a sale's products, but have their own pages and calls. */
export const isSection = ({ section_type }: Body) => (section_type ?? null) !== null
export const withoutSections = (body: Body): Body => ({
  ...body,
  products: ((body.products ?? []) as readonly Body[]).filter((product) => !isSection(product)),
})

const without = (from: Body, names: readonly string[]): Body =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)))
const READ_ONLY_OF_VARIANTS = ['available', 'held', 'sold'] as const
const READ_ONLY_OF_PRODUCTS = [
  ...READ_ONLY_OF_VARIANTS,
  'section_type',
  'variant_of',
  'variant',
  'sku',
  'has_terms',
] as const
const READ_ONLY = new Set(
  (
    'sale version phase ended_at paused invariant rates queue health server_time rules announcement pause_reason ' +
    'chart_version goods_version'
  ).split(' '),
)

/** Returns the API's own messages. */
export function wrongIn(body: Body, saleId: string): Wrong {
  const read = v.safeParse(SaleConfig, body, { abortPipeEarly: true })
  const wrong = new Map<string, string>()
  for (const issue of read.issues ?? []) {
    const path = v.getDotPath(issue) ?? ''
    if (!wrong.has(path)) wrong.set(path, issue.message)
  }
  const id = v.safeParse(SaleId, saleId)
  if (!id.success) wrong.set('sale', id.issues[0].message)
  return wrong
}

/** The two pages of the form. Each field is on one of them. */
export type Part = 'sale' | 'goods'
const OF_PRODUCT = ['limit', ...Object.keys(productGoods)].join('|')
const ONLY_OF_GOODS = new RegExp(
  `^(brand|venue|event|fees|tax|delivery\\.(countries|prices)|products\\.\\d+\\.(${OF_PRODUCT}))(\\.|$)`,
)
export const isOn = (part: Part, path: string): boolean =>
  ONLY_OF_GOODS.test(path) ? part === 'goods' : part === 'sale' || /^products(\.|$)/.test(path)

/** The currency of a sale's fees and delivery prices. */
export const currencyOf = (sale: Json | undefined) => String(valueAt(sale ?? null, 'products.0.currency') || 'EUR')

// -- Reading and writing by path ------------------------------------------------------------------------------------

export function valueAt(body: Json, path: string): Json | undefined {
  return path
    .split('.')
    .reduce<Json | undefined>((inner, name) => (inner as Record<string, Json> | null | undefined)?.[name], body)
}

/** `undefined` removes the field. */
export function withValue(body: Body, path: string, value: Json | undefined): Body {
  const [name = '', ...rest] = path.split('.')
  const inner = (body[name] ?? {}) as Body
  const next = rest.length === 0 ? value : withValue(inner, rest.join('.'), value)
  if (Array.isArray(body)) return (body as readonly Json[]).with(Number(name), next as Json) as unknown as Body
  if (next === undefined) return without(body, [name])
  return { ...body, [name]: next }
}
