/** The searchable entries of a catalogue: its sales, their products and their places. */

import type { Language, Texts } from '../api/fields.ts'
import type { Catalogue, ListedSale } from '../api/front.ts'
import { textIn } from '../api/front.ts'
import type { Image } from '../api/goods.ts'

export interface Entry {
  readonly id: number
  readonly type: 'sale' | 'product' | 'venue'
  readonly sale: string
  readonly product_id?: string
  readonly name: string
  readonly names?: Texts
  readonly tags: readonly string[]
  /** The description by language; empty if there is none. */
  readonly description: Texts
  /** Further searchable texts: related names. */
  readonly body: string
  readonly image?: Image
}

export function entriesOf({ sales }: Pick<Catalogue, 'sales'>): Entry[] {
  return [...sales.flatMap(ofSale), ...venuesOf(sales)].map((entry, id) => ({ ...entry, id }))
}

function ofSale({ sale, name, names, image, venue, shop, products }: ListedSale): Omit<Entry, 'id'>[] {
  const pictured = image ? { image } : {}
  const around = [venue, shop].filter((one) => one !== null)
  const named = products.map((product) => product.name).join(', ')
  const itself = {
    type: 'sale',
    sale,
    name,
    ...(names && { names }),
    tags: [],
    description: { en: named },
    body: around.join('\n'),
    ...pictured,
  }
  const ofProducts = products.map((product) => ({
    type: 'product' as const,
    sale,
    product_id: product.product_id,
    name: product.name,
    ...(product.names && { names: product.names }),
    tags: product.tags ?? [],
    description: product.description ?? {},
    body: [name, ...Object.values(names ?? {}), ...around].join('\n'),
    ...(product.image ? { image: product.image } : pictured),
  }))
  return [{ ...itself, type: 'sale' as const }, ...ofProducts]
}

/** The entry of a place leads to the sale there that opens last. */
function venuesOf(sales: readonly ListedSale[]): Omit<Entry, 'id'>[] {
  const placed = sales.filter(({ venue }) => venue !== null)
  return [...Map.groupBy(placed, ({ venue }) => venue ?? '')].flatMap(([venue, there]) => {
    const [first] = there.toSorted((a, b) => b.opens_at.localeCompare(a.opens_at))
    if (!first) return []
    const names = there.map(({ name }) => name).join(', ')
    const pictured = first.image ? { image: first.image } : {}
    return [
      {
        type: 'venue' as const,
        sale: first.sale,
        name: venue,
        tags: [],
        description: { en: names },
        body: '',
        ...pictured,
      },
    ]
  })
}

export const titleIn = ({ name, names }: Pick<Entry, 'name' | 'names'>, lang: Language): string => names?.[lang] ?? name

export const descriptionIn = ({ description }: Pick<Entry, 'description'>, lang: Language): string =>
  textIn(description, lang) ?? ''
