/** A bill as an order has it, from what is typed: the same sum that the origin charges (shared/bill.ts). */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { COUNTRIES } from '../../../../../shared/api/countries.ts'
import type { BillLine } from '../../../../../shared/api/goods.ts'
import { billOf, type Discount, type PricedLine, priceOfDelivery, type Terms } from '../../../../../shared/bill.ts'
import { money } from '../../../../../shared/format.ts'
import { send } from '../../api.ts'
import { count, countryName } from '../../format.ts'
import { Picker } from '../../sheet/controls.tsx'
import { type Body, configOf, currencyOf, isSection } from '../sale-form/draft.ts'
import { Framed, useForm } from '../sale-form/fields/form.tsx'
import { labelOf, variantsOf } from './variants.ts'

interface Unit {
  readonly name: string
  readonly line: Omit<PricedLine, 'quantity'>
}

/** What an order may hold: products, or each of their variants. */
export function unitsIn(config: Body): readonly Unit[] {
  const products = ((config.products ?? []) as readonly Body[]).filter((product) => !isSection(product))
  return products.flatMap((product) => {
    const [price, weight] = [Number(product.unit_price_minor), product.weight_grams]
    const grams = { weight_grams: typeof weight === 'number' ? weight : null }
    const id = String(product.product_id)
    const variants = variantsOf(product)
    if (variants.length === 0)
      return [{ name: String(product.name), line: { product: id, unit_price_minor: price, ...grams } }]
    return variants.map((variant) => ({
      name: `${product.name}, ${labelOf(variant)}`,
      line: {
        product: variant.variant_id,
        variant_of: id,
        unit_price_minor: Number(variant.unit_price_minor ?? price),
        ...grams,
      },
    }))
  })
}

/** The codes of a saved sale; none where the feature or the sale is not there. */
function useCodes(sale: string, isNew: boolean): readonly Discount[] {
  const { data } = useQuery({
    queryKey: ['promo-codes', sale, 'bill'],
    queryFn: async () => {
      const response = await send(`/admin/sales/${encodeURIComponent(sale)}/promo-codes`)
      const { codes }: { readonly codes: readonly Discount[] } = await response.json()
      return codes
    },
    enabled: !isNew,
  })
  return data ?? []
}

const MOST_CODES = 50

export function SampleBill() {
  const { body, isNew } = useForm()
  const codes = useCodes(String(body.sale), isNew).slice(0, MOST_CODES)
  const [quantity, at, country, code] = [useSignal('2'), useSignal(0), useSignal(''), useSignal('')]
  const { sale: _, ...draft } = body
  const config = configOf(draft)
  const units = config ? unitsIn(config) : []
  const unit = units[at.value] ?? units[0]
  const delivery = config?.delivery as unknown as Terms['delivery'] | undefined
  const countries = delivery?.kind === 'address' ? (delivery.countries ?? COUNTRIES) : []
  const to = countries.includes(country.value) ? country.value : countries[0]
  const many = Math.floor(Number(quantity.value))
  return (
    <div class="stack quote sample-bill">
      <h3>A bill, as an order has it</h3>
      {config && unit ? (
        <>
          <div class="row costs-row">
            <Framed level="">
              <input
                aria-label="Units of the bill"
                inputMode="numeric"
                size={2}
                value={quantity.value}
                onInput={({ currentTarget }) => (quantity.value = currentTarget.value)}
              />
            </Framed>
            <Picker
              label="Of"
              value={String(units.indexOf(unit))}
              options={units.map(({ name }, i) => [String(i), name])}
              onChoose={(one) => (at.value = Number(one))}
            />
            {to !== undefined && (
              <Picker
                label="To"
                value={to}
                options={countries.map((one) => [one, countryName(one)])}
                onChoose={(one) => (country.value = one)}
              />
            )}
            {codes.length > 0 && (
              <Picker
                label="Code"
                value={code.value}
                options={[['', 'no code'], ...codes.map((one) => [one.code, one.code] as const)]}
                onChoose={(one) => (code.value = one)}
              />
            )}
          </div>
          {many > 0 ? (
            <Bill
              config={config}
              unit={unit}
              quantity={many}
              country={to}
              discounts={codes.filter((one) => one.code === code.value)}
            />
          ) : (
            <p class="note">How many units?</p>
          )}
        </>
      ) : (
        <p class="quiet">Once all fields are right, a bill follows what is typed.</p>
      )}
    </div>
  )
}

interface BillProps {
  readonly config: Body
  readonly unit: Unit
  readonly quantity: number
  readonly country: string | undefined
  readonly discounts: readonly Discount[]
}

function Bill({ config, unit: { name, line }, quantity, country, discounts }: BillProps) {
  const currency = currencyOf(config)
  const terms = config as unknown as Terms
  const lines = [{ ...line, quantity }]
  const made = billOf(lines, terms, { discounts, country, currency })
  const amount = (minor: number) => money('en', minor, currency)
  if (!made) return <p class="note is-bad">Nothing goes there, or it is too heavy: no price of delivery fits.</p>
  const grams = quantity * (line.weight_grams ?? 0)
  const place = terms.delivery.prices?.indexOf(priceOfDelivery(lines, terms.delivery, country) as never) ?? -1
  const inSum = made.bill.filter(({ included }) => !included)
  const inside = made.bill.filter(({ included }) => included)
  return (
    <dl class="bill">
      <div>
        <dt>
          {count(quantity)} × {name}
          <small class="quiet">each {amount(line.unit_price_minor)}</small>
        </dt>
        <dd>{amount(quantity * line.unit_price_minor)}</dd>
      </div>
      {inSum.map((one, i) => (
        <div key={i}>
          <dt>
            {nameOf(one, country)}
            {one.kind === 'shipping' && (
              <small class="quiet">
                {count(grams)} g, by price {place + 1}
              </small>
            )}
          </dt>
          <dd>{amount(one.amount_minor)}</dd>
        </div>
      ))}
      <div class="sum">
        <dt>To pay</dt>
        <dd>{amount(made.totals.total_minor)}</dd>
      </div>
      {inside.map((one, i) => (
        <div key={i} class="small quiet">
          <dt>
            {nameOf(one, country)}
            {one.kind === 'tax' && terms.tax && ` ${terms.tax.percent} %`}, in it
          </dt>
          <dd>{amount(one.amount_minor)}</dd>
        </div>
      ))}
    </dl>
  )
}

const nameOf = ({ kind, name }: BillLine, country: string | undefined) =>
  kind === 'shipping' ? `Delivery${country === undefined ? '' : ` to ${countryName(country)}`}` : name
