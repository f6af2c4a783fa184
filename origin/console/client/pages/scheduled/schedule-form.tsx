/** The form that adds a scheduled action. */
import { useSignal } from '@preact/signals'
import type { ScheduledEffect } from '../../../../../shared/api/operators/requests.ts'
import { minorOf } from '../../../../../shared/format.ts'
import { admin } from '../../api.ts'
import { moment, textIn } from '../../format.ts'
import { instantOf, ZONE } from '../../local-time.ts'
import { Failure, useSubmit } from '../../parts.tsx'
import type { Done } from '../../toast.tsx'
import { AnnouncementFields, Texts, textsIn } from '../sale/texts.tsx'
import { inUtc, type Product } from './actions.ts'

const ACTIONS: readonly (readonly [ScheduledEffect['action'], string])[] = [
  ['restock', 'Restock'],
  ['rate', 'Change the rate'],
  ['price', 'Change a price'],
  ['announce', 'Announce'],
  ['pause', 'Pause'],
  ['resume', 'Resume'],
  ['end', 'End the sale, for good'],
  ['report', 'Keep the report'],
  ['export', 'Keep the orders'],
]

interface FormProps {
  readonly sale: string
  readonly products: readonly Product[]
  /** The time zone that repeated actions follow. */
  readonly zone: string
}

export function ScheduleForm({ sale, products, zone }: FormProps) {
  const action = useSignal<string>('restock')
  const isRepeated = useSignal(false)
  const at = useSignal('')
  const until = useSignal('')
  const schedule = async (form: FormData): Promise<Done> => {
    const when: { at?: string; cron?: string } = isRepeated.value
      ? { cron: textIn(form, 'cron') }
      : { at: instantOf(at.value) }
    const not_after = until.value === '' ? {} : { not_after: instantOf(until.value) }
    const json = { ...when, ...not_after, action: action.value, ...effectIn(action.value, form, products) }
    await admin.sales[':sale'].scheduled.$post({ param: { sale }, json })
    const name = ACTIONS.find(([value]) => value === action.value)?.[1]
    return { text: `Scheduled: ${name}, ${when.at === undefined ? `by ${when.cron}` : moment(when.at)}.` }
  }
  const { onSubmit, error, isPending } = useSubmit(schedule, (form) => {
    form.reset()
    at.value = ''
    until.value = ''
  })
  return (
    <section class="sec" aria-label="Schedule an action">
      <h2>Schedule an action</h2>
      <form class="schedule" onSubmit={onSubmit}>
        <label>
          What
          <select value={action.value} onChange={({ currentTarget }) => (action.value = currentTarget.value)}>
            {ACTIONS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          How often
          <select
            value={isRepeated.value ? 'cron' : 'at'}
            onChange={({ currentTarget }) => (isRepeated.value = currentTarget.value === 'cron')}
          >
            <option value="at">Once</option>
            <option value="cron">Again and again</option>
          </select>
        </label>
        {isRepeated.value ? (
          <label>
            When
            <input name="cron" required placeholder="*/10 18-20 * * *" autocomplete="off" spellcheck={false} />
            <small>cron: minute, hour, day, month, weekday, in {zone}</small>
          </label>
        ) : (
          <label>
            When
            <input
              type="datetime-local"
              step="1"
              required
              value={at.value}
              onInput={({ currentTarget }) => (at.value = currentTarget.value)}
            />
            <small>
              {ZONE}
              {at.value !== '' && `; ${utcOf(at.value)}`}
            </small>
          </label>
        )}
        <label>
          Not later than
          <input
            type="datetime-local"
            step="1"
            value={until.value}
            onInput={({ currentTarget }) => (until.value = currentTarget.value)}
          />
          <small>
            {until.value === '' ? 'may be left out: a late run then still happens' : `${ZONE}; ${utcOf(until.value)}`}
          </small>
        </label>
        <EffectFields action={action.value} products={products} />
        <Failure error={error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isPending}>
            Schedule
          </button>
        </p>
      </form>
    </section>
  )
}

/** The typed time in UTC, or why there is no such time. */
function utcOf(text: string): string {
  try {
    return inUtc(instantOf(text))
  } catch (error) {
    return (error as Error).message
  }
}

function EffectFields({ action, products }: { action: string; products: readonly Product[] }) {
  switch (action) {
    case 'restock':
      return (
        <>
          <ProductChoice products={products} />
          <label>
            More units
            <input type="number" name="quantity" min="1" required />
          </label>
        </>
      )
    case 'price':
      return (
        <>
          <ProductChoice products={products} />
          <label>
            New price
            <input name="price" inputMode="decimal" required autocomplete="off" />
            <small>in the product's currency, for later orders</small>
          </label>
        </>
      )
    case 'rate':
      return (
        <label>
          People a second
          <input type="number" name="rate" min="0.01" max="100000" step="any" required />
        </label>
      )
    case 'announce':
      return <AnnouncementFields />
    case 'report':
      return (
        <label>
          Mail it to
          <input name="to" autocomplete="off" spellcheck={false} placeholder="ada@shop.example, ben@shop.example" />
          <small>
            may be left out: it is kept here in any case. Again and again, such as 0 8 * * *: each morning, and once
            more when the sale ends
          </small>
        </label>
      )
    case 'pause':
      return <Texts legend="Why, as visitors read it (may be left out)" />
    default:
      return null
  }
}

const ProductChoice = ({ products }: Pick<FormProps, 'products'>) => (
  <label>
    Product
    <select name="product">
      {products.map(({ product_id, name, currency }) => (
        <option key={product_id} value={product_id}>
          {name} ({currency})
        </option>
      ))}
    </select>
  </label>
)

/** Reads the fields of an effect in the form of the API. */
function effectIn(action: string, form: FormData, products: readonly Product[]): object {
  const product_id = textIn(form, 'product')
  switch (action) {
    case 'restock':
      return { product_id, quantity: Number(form.get('quantity')) }
    case 'price': {
      const currency = products.find((p) => p.product_id === product_id)?.currency ?? ''
      const unit_price_minor = minorOf(textIn(form, 'price'), currency)
      if (unit_price_minor === null) throw new Error(`That is no amount of ${currency}.`)
      return { product_id, unit_price_minor }
    }
    case 'rate':
      return { rate_per_second: Number(form.get('rate')) }
    case 'announce':
      return { level: form.get('level'), text: textsIn(form) }
    case 'report': {
      const to = textIn(form, 'to')
        .split(/[\s,]+/)
        .filter((one) => one !== '')
      return to.length > 0 ? { to } : {}
    }
    case 'pause': {
      const reason = textsIn(form)
      return Object.keys(reason).length > 0 ? { reason } : {}
    }
    default:
      return {}
  }
}
