/** The stock as a bar that visibly adds up: sold, held and free units make the total. */
import { count, TableHead } from '../../parts.tsx'
import { RestockControl } from './controls.tsx'
import type { Live } from './live-stream.ts'

type Product = Live['state']['products'][number]

export function Stock({ live: { state, summary } }: { live: Live }) {
  const { total, buffer, sold, held, available } = state.invariant
  const addsUp = sold + held + available + buffer === total
  const isWrong = summary.parts.some(({ name, level }) => name === 'Stock' && level === 'bad')
  return (
    <section class={`card stock ${isWrong ? 'wrong' : ''}`} id="stock" aria-label="Stock">
      <div class="card-head">
        <h2>Stock</h2>
        <RestockControl state={state} />
      </div>
      <Bar sold={sold} held={held} free={available} total={total} />
      <p class="sum">
        <b class="sold">{count(sold)}</b> sold + <b class="held">{count(held)}</b> held +{' '}
        <b class="free">{count(available)}</b> free{' '}
        {buffer > 0 && (
          <>
            + <b>{count(buffer)}</b> withheld{' '}
          </>
        )}
        {addsUp ? '=' : '≠'} <b>{count(total)}</b>
      </p>
      {(state.products.length > 1 || state.products.some(({ variants = [] }) => variants.length > 0)) && (
        <table>
          <TableHead columns={['Product', 'Sold', 'Held', 'Free', 'Total']} />
          <tbody>
            {state.products.map((product) => (
              <ProductRow key={product.product_id} product={product} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

/** A product with variants shows their sum, followed by the variants. */
function ProductRow({ product: { variants = [], ...product } }: { product: Product }) {
  if (variants.length === 0) return <Row name={product.name} units={product} />
  const sum = (of: 'sold' | 'held' | 'available' | 'total' | 'buffer') =>
    variants.reduce((units, variant) => units + variant[of], 0)
  const [sold, held, available, total, buffer] = [
    sum('sold'),
    sum('held'),
    sum('available'),
    sum('total'),
    sum('buffer'),
  ]
  return (
    <>
      <Row name={product.name} units={{ sold, held, available, total, buffer }} />
      {variants.map((variant) => (
        <Row key={variant.variant_id} name={Object.values(variant.options).join(', ')} units={variant} isVariant />
      ))}
    </>
  )
}

interface RowProps {
  readonly name: string
  readonly units: Readonly<Record<'sold' | 'held' | 'available' | 'total' | 'buffer', number>>
  readonly isVariant?: boolean
}

function Row({ name, units: { sold, held, available, total, buffer }, isVariant = false }: RowProps) {
  return (
    <tr class={isVariant ? 'variant' : ''}>
      <th scope="row">
        {name}
        <Bar sold={sold} held={held} free={available} total={total} />
        {buffer > 0 && <small>{count(buffer)} withheld</small>}
      </th>
      <td class="number">{count(sold)}</td>
      <td class="number">{count(held)}</td>
      <td class="number">{count(available)}</td>
      <td class="number">{count(total)}</td>
    </tr>
  )
}

function Bar({ sold, held, free, total }: Record<'sold' | 'held' | 'free' | 'total', number>) {
  const share = (units: number) => `width: ${total > 0 ? (100 * units) / total : 0}%`
  return (
    <span class="units" role="img" aria-label={`${sold} sold, ${held} held, ${free} free of ${total}`}>
      <i class="sold" style={share(sold)} />
      <i class="held" style={share(held)} />
    </span>
  )
}
