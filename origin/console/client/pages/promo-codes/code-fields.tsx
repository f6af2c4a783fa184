/** The fields of one promo code in a dialog, and their conversion to a code. */
import { useSignal } from '@preact/signals'
import type { PromoCode } from '../../../../../shared/api/goods.ts'
import { decimal, minorOf } from '../../../../../shared/format.ts'
import { instantOf, localOf } from '../../local-time.ts'
import { Choose, textIn } from '../../parts.tsx'
import { valuesIn } from '../goods/variants.ts'

const KINDS = [
  ['percent', 'a share of the price'],
  ['amount_minor', 'an amount off the order'],
  ['price_minor', 'a price for each unit'],
] as const
type Kind = (typeof KINDS)[number][0]

/**
 * Throws for an invalid amount or time; the API checks the other fields. `before` is the code that the form changes.
 */
export function codeIn(form: FormData, currency: string, before?: PromoCode): PromoCode {
  const kind = textIn(form, 'kind') as Kind
  const value = kind === 'percent' ? numberIn(form, 'value') : minorOf(textIn(form, 'value'), currency)
  if (value === null) throw new Error('Write the amount as a number, such as 5.00.')
  const products = valuesIn(textIn(form, 'products'))
  return {
    code: textIn(form, 'code').toUpperCase(),
    [kind]: value,
    uses: numberIn(form, 'uses'),
    uses_per_visitor: numberIn(form, 'uses_per_visitor'),
    units_per_use: numberIn(form, 'units_per_use'),
    from: timeIn(form, 'from', before),
    until: timeIn(form, 'until', before),
    products: products.length > 0 ? [...products] : null,
    combined: form.get('combined') === 'on',
  }
}

const numberIn = (form: FormData, name: string) => (textIn(form, name) === '' ? null : Number(textIn(form, name)))
const timeIn = (form: FormData, name: 'from' | 'until', before?: PromoCode) =>
  textIn(form, name) === '' ? null : instantOf(textIn(form, name), before?.[name])

/** `code` is the existing code that is being changed. */
export function CodeFields({ currency, code }: { currency: string; code?: PromoCode }) {
  const kind = useSignal<Kind>(KINDS.find(([one]) => code?.[one] !== undefined)?.[0] ?? 'percent')
  const value = code?.[kind.value]
  const shown = value === undefined ? '' : kind.value === 'percent' ? String(value) : decimal(value, currency)
  return (
    <>
      {code ? (
        <input type="hidden" name="code" value={code.code} />
      ) : (
        <label>
          Code
          <input name="code" required minLength={2} maxLength={40} autocomplete="off" autocapitalize="characters" />
          <small class="quiet">Letters, digits, - and _. Upper and lower case are the same.</small>
        </label>
      )}
      <input type="hidden" name="kind" value={kind.value} />
      <Choose label="It gives" value={kind.value} options={KINDS} onChoose={(one) => (kind.value = one as Kind)} />
      <label>
        {kind.value === 'percent' ? 'Percent' : `Amount (${currency})`}
        <input key={kind.value} name="value" required inputMode="decimal" autocomplete="off" defaultValue={shown} />
      </label>
      <div class="pair">
        <label>
          Uses in all
          <input type="number" name="uses" min="0" placeholder="no limit" defaultValue={numeral(code?.uses)} />
        </label>
        <label>
          Uses of one visitor
          <input
            type="number"
            name="uses_per_visitor"
            min="1"
            placeholder="no limit"
            defaultValue={numeral(code?.uses_per_visitor)}
          />
        </label>
      </div>
      <details>
        <summary>From, until, for some units or products, beside other codes</summary>
        <div class="pair">
          <label>
            From
            <input type="datetime-local" step="1" name="from" defaultValue={localTime(code?.from)} />
          </label>
          <label>
            Until
            <input type="datetime-local" step="1" name="until" defaultValue={localTime(code?.until)} />
          </label>
        </div>
        <label>
          Units of one use
          <input
            type="number"
            name="units_per_use"
            min="1"
            placeholder="all of the order"
            defaultValue={numeral(code?.units_per_use)}
          />
          <small class="quiet">So many units of an order are cheaper, the dearest ones.</small>
        </label>
        <label>
          Products
          <input name="products" placeholder="all" autocomplete="off" defaultValue={code?.products?.join(', ') ?? ''} />
          <small class="quiet">Their ids, with commas. A product's id means all its variants.</small>
        </label>
        <label class="check">
          <input type="checkbox" name="combined" defaultChecked={code?.combined ?? false} /> May be used beside another
          code
        </label>
      </details>
    </>
  )
}

const numeral = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value))
const localTime = (iso: string | null | undefined) => (iso ? localOf(iso) : '')
