/** The stock by product, or by the sections of a hall: sold, held and free units visibly add up to the total. */
import { Link } from 'wouter-preact'
import { count } from '../../format.ts'
import { unitsSum } from '../../parts.tsx'
import { State, StockMeter } from '../../sheet/marks.tsx'
import { Section } from '../../sheet/page.tsx'
import { RestockControl } from './controls.tsx'
import type { Live } from './live-stream.ts'

type Product = Live['state']['products'][number]
type Units = Readonly<Record<'sold' | 'held' | 'available' | 'total' | 'buffer', number>>

export function Stock({ live: { state, summary } }: { readonly live: Live }) {
  const { total, buffer: withheld, sold, held, available: free } = state.invariant
  const isWrong = summary.parts.some(({ name, level }) => name === 'Stock' && level === 'bad')
  const hasHall = state.products.some(({ section_type }) => section_type)
  return (
    <Section title="Stock" id="stock" aside={<RestockControl state={state} />}>
      <div class="scroll">
        <table class="stock">
          <thead>
            <tr>
              <th scope="col">{hasHall ? 'Section' : 'Product'}</th>
              <th scope="col" class="share">
                <span class="unseen">Share</span>
              </th>
              <th scope="col" class="n">
                Sold
              </th>
              <th scope="col" class="n">
                Held
              </th>
              <th scope="col" class="n">
                Free
              </th>
            </tr>
          </thead>
          <tbody>{state.products.flatMap((product) => rowsOf(product, state.products.length === 1))}</tbody>
        </table>
      </div>
      <p class={isWrong ? 'small is-bad wrong-sum' : 'small quiet'}>
        {isWrong && <State level="bad">Does not add up</State>} {unitsSum({ sold, held, free, withheld, total })}
      </p>
      {hasHall && (
        <p class="small">
          <Link href={`/console/sales/${state.sale}/hall`}>Open the hall</Link>
        </p>
      )}
    </Section>
  )
}

/** A product with variants shows these alone, since their sum is the product's. The only product is not named again. */
function rowsOf({ variants = [], ...product }: Product, isOnly: boolean) {
  if (variants.length === 0) return [<Row key={product.product_id} name={product.name} units={product} />]
  return variants.map((variant) => (
    <Row
      key={variant.variant_id}
      name={[...(isOnly ? [] : [product.name]), ...Object.values(variant.options)].join(', ')}
      units={variant}
    />
  ))
}

function Row({
  name,
  units: { sold, held, available, total, buffer },
}: {
  readonly name: string
  readonly units: Units
}) {
  return (
    <tr>
      <th scope="row">
        {name}
        {buffer > 0 && <small class="quiet"> {count(buffer)} withheld</small>}
      </th>
      <td class="share">
        <StockMeter total={total} sold={sold} held={held} />
      </td>
      <td class="n">{count(sold)}</td>
      <td class="n">{count(held)}</td>
      <td class="n">
        {available === 0 && held > 0 ? <State level="info">all in carts</State> : <b>{count(available)}</b>}
      </td>
    </tr>
  )
}
