/** The costs that a sale's orders have in addition to prices: fees, tax, delivery. */
import { type Body, currencyOf, valueAt } from '../sale-form/draft.ts'
import { Check, Choice, MoneyField, NumberField, TextField, useForm } from '../sale-form/fields.tsx'
import { Folded } from '../sale-form/sections.tsx'
import { ListField, Rows } from './goods-fields.tsx'

export function FeesAndTax() {
  const { body, set } = useForm()
  const currency = currencyOf(body)
  return (
    <Folded title="Fees and tax" paths={['fees', 'tax']}>
      <Rows
        path="fees"
        of="Fee"
        add="Add a fee"
        empty={{ name: '', amount_minor: '', per: 'order', included: false }}
        most={10}
        nameOf={(fee) => fee.name}
      >
        {(path, fee) => <FeeFields path={path} fee={fee} currency={currency} />}
      </Rows>
      <label class="check">
        <input
          type="checkbox"
          checked={Boolean(body.tax)}
          onChange={({ currentTarget }) => set('tax', currentTarget.checked ? { name: '', percent: '' } : null)}
        />
        There is a tax on the prices
      </label>
      {body.tax && (
        <div class="fields">
          <TextField path="tax.name" label="Name of the tax" hint="As receipts say it: VAT." />
          <NumberField path="tax.percent" label="Percent" />
          <Choice
            path="tax.included"
            label="The prices"
            optional
            options={[
              // Null has the same meaning as a missing value.
              [valueAt(body, 'tax.included') === true ? true : null, 'include it'],
              [false, 'get it added'],
            ]}
          />
        </div>
      )}
    </Folded>
  )
}

function FeeFields({ path, fee, currency }: { path: string; fee: Body; currency: string }) {
  const { set } = useForm()
  const isShare = fee.percent !== undefined
  const { percent: _, amount_minor: __, ...rest } = fee
  return (
    <>
      <TextField path={`${path}.name`} label="Name" hint="As the order says it." />
      <label>
        How much
        <select
          value={isShare ? 'percent' : 'amount'}
          onChange={({ currentTarget }) =>
            set(path, { ...rest, ...(currentTarget.value === 'percent' ? { percent: '' } : { amount_minor: '' }) })
          }
        >
          <option value="amount">an amount</option>
          <option value="percent">a share of the prices</option>
        </select>
      </label>
      {isShare ? (
        <NumberField path={`${path}.percent`} label="Percent" />
      ) : (
        <MoneyField path={`${path}.amount_minor`} label={`Amount (${currency})`} currency={currency} />
      )}
      <Choice
        path={`${path}.per`}
        label="For"
        options={[
          ['unit', 'each unit'],
          ['order', 'the order'],
        ]}
      />
      <Check path={`${path}.included`} label="The prices include it" />
    </>
  )
}

const KINDS = [
  ['none', 'nothing is sent'],
  ['pickup', 'it is picked up'],
  ['address', 'it is sent to an address'],
  ['handover', 'the shop asks for it, after the payment'],
] as const
const ASKED = [
  ['off', 'not asked for'],
  ['optional', 'may be left'],
  ['required', 'required'],
] as const
const ASKS = [
  ['name', 'Name'],
  ['phone', 'Telephone number'],
  ['company', 'Company'],
  ['note', 'Note'],
] as const

export function Delivery() {
  const { body } = useForm()
  const kind = valueAt(body, 'delivery.kind')
  return (
    <Folded title="Delivery" paths={['delivery']}>
      <Choice path="delivery.kind" label="How an order reaches its buyer" options={KINDS} />
      {kind === 'pickup' && (
        <TextField path="delivery.pickup" label="Where and when it is picked up" hint="For people." rows={3} optional />
      )}
      {kind === 'handover' && (
        <TextField
          path="delivery.return_url"
          label="Where buyers go after the payment"
          hint="The shop's address. It gets the order, signed."
          placeholder="https://"
          optional
        />
      )}
      {kind === 'address' && <Shipping />}
      {kind !== 'handover' && (
        <>
          <h3>What the checkout asks for</h3>
          <div class="fields">
            {ASKS.map(([name, label]) => (
              <Choice key={name} path={`delivery.ask.${name}`} label={label} options={ASKED} />
            ))}
          </div>
        </>
      )}
    </Folded>
  )
}

function Shipping() {
  const { body } = useForm()
  const currency = currencyOf(body)
  return (
    <>
      <ListField
        path="delivery.countries"
        label="Countries"
        none="everywhere"
        hint="Two letters each, such as DE, AT."
        upperCase
      />
      <h3>Prices</h3>
      <p class="quiet">The first that fits the country and the weight of the order holds. Without prices it is free.</p>
      <Rows path="delivery.prices" of="Price" add="Add a price" empty={{ amount_minor: '' }} most={500} optional>
        {(path) => (
          <>
            <MoneyField path={`${path}.amount_minor`} label={`Price (${currency})`} currency={currency} />
            <ListField path={`${path}.countries`} label="To" none="all of them" upperCase />
            <NumberField path={`${path}.up_to_grams`} label="Up to grams" none="any weight" optional />
          </>
        )}
      </Rows>
    </>
  )
}
