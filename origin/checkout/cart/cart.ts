/** What a checkout asks for, checked against the sale and its hall. Pure. */

import { MAX_TOTAL_MINOR } from '../../../shared/api/goods.ts'
import type { CheckoutLine, CheckoutRequest } from '../../../shared/api/public.ts'
import { assertExists } from '../../../shared/lib/assert.ts'
import { listErrors } from '../../../shared/parse.ts'
import { type FieldError, type Problem, problem } from '../../../shared/problem.ts'
import type { ProductRow, SaleRow } from '../../ledger/sale-row.ts'
import { type CheckoutReservation, isPart, isWish, mergeParts, type Want } from '../../seats/cart-choice.ts'
import { ANY, type Chart } from '../../seats/chart.ts'

/** The fields of a reservation that follow from the request. */
export type Asked = Pick<CheckoutReservation, 'product' | 'quantity' | 'cart' | 'choice'>

/** True if the chart of the hall is needed to read the request. */
export const asksForSeats = (request: CheckoutRequest, sale: SaleRow) =>
  request.lines
    ? request.lines.some((line) => line.product_id === undefined)
    : productOf(sale, request.product_id)?.section_type === 'reserved'

const productOf = ({ products }: SaleRow, id: string | undefined) =>
  id === undefined
    ? (products.find(({ total }) => total > 0) ?? products[0])
    : products.find(({ product_id }) => product_id === id)

/** True if the product has no units of its own, so that the buyer must choose one of its variants. */
const hasVariants = ({ products }: SaleRow, { product_id, total }: ProductRow) =>
  total === 0 && products.some(({ variant_of }) => variant_of === product_id)
const CHOOSE_VARIANT = 'choose a variant'

/** True if the request lacks an acceptance of terms that one of its products requires. */
export const mustAccept = (sale: SaleRow, { product, cart }: Asked, { accept }: CheckoutRequest) =>
  !accept?.includes('terms') &&
  (cart ? cart.some((part) => productOf(sale, part.product)?.has_terms) : productOf(sale, product)?.has_terms)

/** The units that a request asks for, or why it cannot be read. */
export function askedOf(request: CheckoutRequest, sale: SaleRow, chart: Chart | null): Asked | Problem {
  const { lines, product_id, quantity = 1 } = request
  if (lines) return cartOfLines(request, lines, sale, chart)
  const product = productOf(sale, product_id)
  if (!product) {
    const detail = `There is no product ${product_id ?? 'to buy'} in this sale.`
    return problem('unknown-product', { detail, errors: [{ field: 'product_id', detail }] })
  }
  const { product_id: id } = product
  if (hasVariants(sale, product)) return invalid([{ field: 'product_id', detail: CHOOSE_VARIANT }])
  if (product.section_type !== 'reserved') return cartOfParts(sale, [{ product: id, quantity }])
  if (!chart) return invalid([{ field: 'product_id', detail: 'the section has no seats' }])
  return cartOfWants(sale, [bestIn({ section_id: id, quantity })], chart)
}

function cartOfLines(request: CheckoutRequest, lines: readonly CheckoutLine[], sale: SaleRow, chart: Chart | null) {
  const errors: FieldError[] = []
  for (const field of ['product_id', 'quantity'] as const)
    if (request[field] !== undefined) errors.push({ field, detail: 'goes into lines' })
  const named = new Set<number>()
  const wants = lines.flatMap((line, i): Want[] => {
    const wrong = (field: string, detail: string) => {
      errors.push({ field: `lines.${i}${field && `.${field}`}`, detail })
      return []
    }
    const { product_id, section_id, seats, category, quantity = 1, together, accessible } = line
    if (product_id !== undefined) {
      const other = (['section_id', 'seats', 'category', 'together', 'accessible'] as const).find((f) => f in line)
      if (other) return wrong(other, 'not beside product_id')
      const product = productOf(sale, product_id)
      if (!product || product.section_type) return wrong('product_id', 'no such product in this sale')
      if (hasVariants(sale, product)) return wrong('product_id', CHOOSE_VARIANT)
      return [{ product: product_id, quantity }]
    }
    const section = section_id === undefined ? undefined : productOf(sale, section_id)
    if (section_id !== undefined && !section?.section_type) return wrong('section_id', 'no such section in this sale')
    if (seats) {
      if (section?.section_type !== 'reserved') return wrong('section_id', 'a section with seats is required')
      const other = (['quantity', 'category', 'together', 'accessible'] as const).find((f) => f in line)
      if (other) return wrong(other, 'not beside seats')
      const indexes = seats.map((seat, k) => {
        const found = chart?.find(section.product_id, seat)
        if (!found) wrong(`seats.${k}`, 'no such seat in this section')
        else if (named.has(found.index)) wrong(`seats.${k}`, 'is named twice')
        else named.add(found.index)
        return found?.index ?? -1
      })
      return [{ product: section.product_id, quantity: indexes.length, seats: indexes }]
    }
    if (section?.section_type === 'general_admission') {
      const other = (['category', 'together', 'accessible'] as const).find((f) => f in line)
      if (other) return wrong(other, 'not in a standing section')
      return [{ product: section.product_id, quantity }]
    }
    if (!chart) return wrong(section_id === undefined ? '' : 'section_id', 'the sale has no seats')
    if (category !== undefined && !chart.pool(section_id, category, ANY)) return wrong('category', 'no such seats here')
    return [
      bestIn({
        quantity,
        ...(section_id !== undefined && { section_id }),
        ...(category !== undefined && { category }),
        ...(together !== undefined && { together }),
        ...(accessible !== undefined && { accessible }),
      }),
    ]
  })
  if (errors.length > 0) return invalid(errors)
  if (chart && wants.some(isWish)) return cartOfWants(sale, wants, chart)
  const parts = wants.filter(isPart)
  const asked = cartOfParts(sale, mergeParts(parts))
  return chart && 'product' in asked && named.size > 0 ? { ...asked, choice: { chart, wants } } : asked
}

const bestIn = ({ section_id, category, quantity = 1, together = true, accessible = false }: CheckoutLine): Want => ({
  wish: {
    ...(section_id !== undefined && { section: section_id }),
    ...(category !== undefined && { category }),
    quantity,
    together,
    accessible,
  },
})

export const invalid = (errors: readonly FieldError[]): Problem => problem('invalid-fields', listErrors(errors))

/** One currency, and no more than an order may have; undefined if so. */
function refusedFor(
  sale: SaleRow,
  products: readonly (ProductRow | undefined)[],
  quantity: number,
): Problem | undefined {
  const most = sale.limit_per_order
  if (most !== null && quantity > most) return invalid([{ field: 'quantity', detail: `at most ${most} per order` }])
  const currencies = new Set(products.map((product) => product?.currency))
  if (currencies.size > 1) return invalid([{ field: 'lines', detail: 'have prices in several currencies' }])
  return undefined
}

function cartOfParts(sale: SaleRow, parts: CheckoutReservation['cart'] & {}): Asked | Problem {
  const quantity = parts.reduce((units, part) => units + part.quantity, 0)
  const rows = parts.map(({ product, quantity }) => {
    const row = assertExists(productOf(sale, product), 'A cart names products of its sale.')
    return { row, costMinor: quantity * row.unit_price_minor }
  })
  const products = rows.map(({ row }) => row)
  const sumMinor = rows.reduce((sum, { costMinor }) => sum + costMinor, 0)
  if (sumMinor > MAX_TOTAL_MINOR) return invalid([{ field: 'quantity', detail: 'the sum is too large' }])
  const [first] = parts
  const refused = refusedFor(sale, products, quantity)
  if (refused || !first) return refused ?? invalid([{ field: 'lines', detail: 'at least one line' }])
  const isPlain = parts.length === 1 && products.every((p) => !p.section_type && p.limit_per_visitor === null)
  return { product: first.product, quantity, ...(!isPlain && { cart: parts }) }
}

function cartOfWants(sale: SaleRow, wants: readonly Want[], chart: Chart): Asked | Problem {
  const quantity = wants.reduce((units, want) => units + (isWish(want) ? want.wish : want).quantity, 0)
  const ids = wants.flatMap((want) => (isWish(want) ? (want.wish.section ?? [...chart.sections]) : want.product))
  const products = ids.map((id) => productOf(sale, id))
  const [product] = ids
  if (product === undefined) return invalid([{ field: 'lines', detail: 'the sale has no seats' }])
  return refusedFor(sale, products, quantity) ?? { product, quantity, choice: { chart, wants } }
}
