/** The variants of a product as a table: stock, price and SKU of each, and a field that sets one number for all. */
import { useSignal } from '@preact/signals'
import { decimal } from '../../../../../shared/format.ts'
import { count } from '../../parts.tsx'
import type { Body } from '../sale-form/draft.ts'
import { MoneyField, NumberField, TextField, useForm } from '../sale-form/fields.tsx'
import { labelOf, unitsOf, variantsOf } from './variants.ts'

export function VariantTable({ path, product }: { path: string; product: Body }) {
  const { wrong, set } = useForm()
  const variants = variantsOf(product)
  const currency = String(product.currency)
  const price = typeof product.unit_price_minor === 'number' ? decimal(product.unit_price_minor, currency) : 'as above'
  const units = unitsOf(variants)
  const each = useSignal('')
  const setAll = () =>
    set(
      path,
      variants.map((variant) => ({ ...variant, total: Number(each.value) })),
    )
  return (
    <div class="variants">
      <div class="all">
        <label>
          Units of each
          <input
            type="number"
            min="0"
            value={each.value}
            onInput={({ currentTarget }) => (each.value = currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              if (each.value !== '') setAll()
            }}
          />
        </label>
        <button type="button" disabled={each.value === ''} onClick={setAll}>
          Set for all {count(variants.length)}
        </button>
      </div>
      {wrong.has(path) && <small class="wrong">{wrong.get(path)}</small>}
      <ul>
        {variants.map((variant, i) => {
          const label = labelOf(variant)
          return (
            <li key={variant.variant_id}>
              <div class="variant-name">
                <b>{label}</b>
                <small class="quiet">{variant.variant_id}</small>
              </div>
              <NumberField
                path={`${path}.${i}.total`}
                label={<Named what="Units" of={label} />}
                hint={taken(variant)}
              />
              <MoneyField
                path={`${path}.${i}.unit_price_minor`}
                label={<Named what="Price" of={label} />}
                currency={currency}
                none={price}
                optional
              />
              <TextField path={`${path}.${i}.sku`} label={<Named what="SKU" of={label} />} optional />
            </li>
          )
        })}
      </ul>
      <p role="status">{units === null ? 'Some have no number of units yet.' : `${count(units)} units in all.`}</p>
    </div>
  )
}

/** The column header says the first word to operators who see it, and screen readers also get the second. */
const Named = ({ what, of }: { what: string; of: string }) => (
  <>
    {what} <span class="unseen">of {of}</span>
  </>
)

function taken({ held, sold }: Body): string | undefined {
  const units = Number(held ?? 0) + Number(sold ?? 0)
  return units > 0 ? `${count(units)} held or sold` : undefined
}
