/** What an order costs beside its prices: fees, tax, delivery; with a bill that follows what is typed. */
import type { ComponentChildren } from 'preact'
import { Link } from 'wouter-preact'
import { Segmented } from '../../sheet/controls.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Dot } from '../../sheet/marks.tsx'
import { type Body, currencyOf, valueAt } from '../sale-form/draft.ts'
import { Framed, isWithin, useForm, useState } from '../sale-form/fields/form.tsx'
import { useMoney, useNumber, useText } from '../sale-form/fields/inputs.ts'
import { signOf } from '../sale-form/fields/rows.tsx'
import { FormSection } from '../sale-form/sections/main-sections.tsx'
import { useList } from './goods-fields.tsx'
import { SampleBill } from './sample-bill.tsx'

const MOST_FEES = 10
const MOST_PRICES = 500

export function BillSection() {
  return (
    <FormSection
      id="bill"
      title="Fees, tax, delivery"
      aside={<span class="small quiet">what an order costs beside its prices</span>}
    >
      <div class="cards costs">
        <div class="stack">
          <Fees />
          <Tax />
          <Shipping />
        </div>
        <SampleBill />
      </div>
    </FormSection>
  )
}

/** The errors inside a field, and what was changed of it. */
function Said({ path, name }: { readonly path: string; readonly name: string }) {
  const { wrong } = useForm()
  const { level, note } = useState({ path })
  const faults = [...wrong].filter(([field]) => isWithin(field, path))
  return (
    <>
      {faults.map(([field, text]) => (
        <p key={field} class="note is-bad">
          <Dot level="bad" />
          {name}: {text}
        </p>
      ))}
      {faults.length === 0 && level !== '' && <p class="note">{note}</p>}
    </>
  )
}

const Remove = ({ name, onRemove }: { readonly name: string; onRemove(): void }) => (
  <button type="button" class="btn bare" aria-label={`Remove ${name}`} onClick={onRemove}>
    <Icon name="bin" />
  </button>
)

const Add = ({ children, onAdd }: { readonly children: ComponentChildren; onAdd(): void }) => (
  <p>
    <button type="button" class="btn" onClick={onAdd}>
      <Icon name="plus" />
      {children}
    </button>
  </p>
)

function Fees() {
  const { body, set } = useForm()
  const fees = (body.fees ?? []) as readonly Body[]
  return (
    <>
      <h3>Fees</h3>
      {fees.map((fee, i) => (
        <FeeRow key={i} i={i} fee={fee} onRemove={() => set('fees', fees.toSpliced(i, 1))} />
      ))}
      <Said path="fees" name="Fees" />
      {fees.length < MOST_FEES && (
        <Add onAdd={() => set('fees', [...fees, { name: '', amount_minor: '', per: 'order', included: false }])}>
          Add a fee
        </Add>
      )}
    </>
  )
}

/** For what a fee is, and whether the prices include it. */
const PLACES = [
  ['unit true', 'each, in the price'],
  ['unit false', 'each, added'],
  ['order true', 'once, in the price'],
  ['order false', 'once, added'],
] as const

function FeeRow({ i, fee, onRemove }: { readonly i: number; readonly fee: Body; onRemove(): void }) {
  const { body, set } = useForm()
  const path = `fees.${i}`
  const currency = currencyOf(body)
  const isShare = fee.percent !== undefined
  const name = useText({ path: `${path}.name` })
  const amount = useMoney({ path: `${path}.amount_minor`, currency })
  const percent = useNumber({ path: `${path}.percent` })
  const much = isShare ? percent : amount
  const { percent: _, amount_minor: __, ...rest } = fee
  const called = String(fee.name || `fee ${i + 1}`)
  return (
    <fieldset class="row costs-row" aria-label={`Fee ${i + 1}`}>
      <Framed level={name.level}>
        <input {...name.input} aria-label="Name of the fee" placeholder="Name" size={8} />
      </Framed>
      <Framed level={much.level}>
        <select
          aria-label={`Amount or share, ${called}`}
          value={isShare ? 'percent' : 'amount'}
          onChange={({ currentTarget }) =>
            set(path, { ...rest, ...(currentTarget.value === 'percent' ? { percent: '' } : { amount_minor: '' }) })
          }
        >
          <option value="amount">{signOf(currency)}</option>
          <option value="percent">%</option>
        </select>
        <input {...much.input} aria-label={`How much, ${called}`} size={4} />
      </Framed>
      <Framed level="">
        <select
          aria-label={`For, and where, ${called}`}
          value={`${fee.per} ${fee.included === true}`}
          onChange={({ currentTarget }) => {
            const [per = 'order', included] = currentTarget.value.split(' ')
            set(path, { ...fee, per, included: included === 'true' })
          }}
        >
          {PLACES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Framed>
      <Remove name={called} onRemove={onRemove} />
    </fieldset>
  )
}

function Tax() {
  const { body, set } = useForm()
  const name = useText({ path: 'tax.name' })
  const percent = useNumber({ path: 'tax.percent' })
  const isAdded = valueAt(body, 'tax.included') === false
  return (
    <>
      <h3>Tax</h3>
      {body.tax ? (
        <fieldset class="row costs-row" aria-label="Tax">
          <Framed level={name.level}>
            <input {...name.input} aria-label="Name of the tax" placeholder="VAT" size={5} />
          </Framed>
          <Framed level={percent.level} unit="%">
            <input {...percent.input} aria-label="Percent" size={4} />
          </Framed>
          <Segmented
            label="The prices"
            value={isAdded ? 'added' : 'included'}
            options={[
              ['included', 'included'],
              ['added', 'added'],
            ]}
            onChoose={(chosen) => set('tax.included', chosen === 'added' ? false : undefined)}
          />
          <Remove name="the tax" onRemove={() => set('tax', null)} />
        </fieldset>
      ) : (
        <Add onAdd={() => set('tax', { name: '', percent: '' })}>Add a tax on the prices</Add>
      )}
      <Said path="tax" name="Tax" />
    </>
  )
}

function Shipping() {
  const { body, set } = useForm()
  const prices = (valueAt(body, 'delivery.prices') ?? []) as readonly Body[]
  const countries = useList({ path: 'delivery.countries', none: 'everywhere', upperCase: true })
  const many = ((valueAt(body, 'delivery.countries') ?? []) as readonly string[]).length
  const write = (next: readonly Body[]) => set('delivery.prices', next.length === 0 ? undefined : next)
  if (valueAt(body, 'delivery.kind') !== 'address')
    return (
      <>
        <h3>Delivery</h3>
        <p class="note">
          Nothing is sent to an address:{' '}
          {body.phase === undefined ? 'see the sale’s delivery' : <ToEdit sale={String(body.sale)} />}.
        </p>
      </>
    )
  return (
    <>
      <h3>Delivery to {many === 0 ? 'every country' : many === 1 ? '1 country' : `${many} countries`}</h3>
      <Framed level={countries.level}>
        <input {...countries.input} aria-label="Countries" />
      </Framed>
      {countries.note && <p class={countries.level === 'is-bad' ? 'note is-bad' : 'note'}>{countries.note}</p>}
      {prices.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">To</th>
              <th scope="col" class="n">
                Up to, g
              </th>
              <th scope="col" class="n">
                Price, {signOf(currencyOf(body))}
              </th>
              <td>
                <span class="unseen">Remove</span>
              </td>
            </tr>
          </thead>
          <tbody>
            {prices.map((_, i) => (
              <PriceRow key={i} i={i} onRemove={() => write(prices.toSpliced(i, 1))} />
            ))}
          </tbody>
        </table>
      )}
      <Said path="delivery.prices" name="Prices" />
      {prices.length < MOST_PRICES && <Add onAdd={() => write([...prices, { amount_minor: '' }])}>Add a price</Add>}
      <p class="note">The first that fits holds. Without prices delivery is free.</p>
    </>
  )
}

const ToEdit = ({ sale }: { readonly sale: string }) => (
  <Link href={`/console/sales/${sale}/edit#asks`}>how it reaches its buyer</Link>
)

function PriceRow({ i, onRemove }: { readonly i: number; onRemove(): void }) {
  const { body } = useForm()
  const path = `delivery.prices.${i}`
  const to = useList({ path: `${path}.countries`, none: 'all of them', upperCase: true })
  const grams = useNumber({ path: `${path}.up_to_grams`, none: 'any', optional: true })
  const amount = useMoney({ path: `${path}.amount_minor`, currency: currencyOf(body) })
  return (
    <tr>
      <th scope="row">
        <Framed level={to.level}>
          <input {...to.input} aria-label={`To, price ${i + 1}`} size={8} />
        </Framed>
      </th>
      <td class="n">
        <Framed level={grams.level}>
          <input {...grams.input} aria-label={`Up to grams, price ${i + 1}`} size={5} />
        </Framed>
      </td>
      <td class="n">
        <Framed level={amount.level}>
          <input {...amount.input} aria-label={`Price ${i + 1}`} size={5} />
        </Framed>
      </td>
      <td>
        <Remove name={`price ${i + 1}`} onRemove={onRemove} />
      </td>
    </tr>
  )
}
