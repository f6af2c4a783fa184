/** The rate and the stock of a sale. Each control says what it does, asks for confirmation, and offers its undo. */
import type { ComponentChild } from 'preact'
import { count, figure, textIn } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { soldBy } from '../../sold-by.ts'
import { restock, type State, setRate } from './sale-actions.ts'

const numberIn = (form: FormData, name: string) => Number(form.get(name))

/** Buttons of a feature that change what visitors read, in the head or beside what they read now. */
export type NoticeControl = (props: {
  readonly state: State
  readonly place: 'head' | 'notices'
  /** The number of visitors in the line; null if nobody knows. */
  readonly waiting: number | null
}) => ComponentChild

export function RateControl({ state }: { readonly state: State }) {
  const rate = state.admission.rate_per_second
  if (!may('operator') || state.phase === 'ended') return null
  return (
    <Confirm
      action="Change rate"
      icon="rate"
      keys="R"
      text={
        <span>
          Rate {figure(rate)}
          <span class="wide"> a second</span>
        </span>
      }
      effect={
        <Effects
          effects={{
            goesOn: `${count(state.invariant.available)} units are free: at this rate they last ${lastFor(state)}`,
            undo: `set it back to ${figure(rate)}; it takes effect within two seconds`,
          }}
        />
      }
      onConfirm={(form) => setRate(state, numberIn(form, 'rate'), rate)}
    >
      <label class="label">
        People a second
        <span class="field">
          <input
            type="number"
            name="rate"
            min="0.01"
            max="100000"
            step="any"
            required
            autofocus
            defaultValue={String(rate)}
          />
          <span class="quiet">a second</span>
        </span>
      </label>
    </Confirm>
  )
}

/** The stock goes as quickly as possible if each visitor who is called takes one unit. */
function lastFor({ invariant: { available }, admission: { rate_per_second } }: State): string {
  const seconds = available / rate_per_second
  return seconds < 60 ? 'less than a minute' : `at least ${count(Math.round(seconds / 60))} min`
}

/** It stands beside the stock, and in the head. */
export function RestockControl({ state, isShort = false }: { readonly state: State; readonly isShort?: boolean }) {
  // A seated section has as many units as seats, so it cannot be restocked.
  const products = soldBy(state.products).filter(({ section_type }) => section_type !== 'reserved')
  if (!may('operator') || state.phase === 'ended' || products.length === 0) return null
  return (
    <Confirm
      action="Restock"
      icon="box"
      look={isShort ? undefined : 'bare'}
      keys={isShort ? 'B' : undefined}
      effect={
        <Effects
          effects={{
            goesOn: 'the units are for sale at once, and a sold-out sale is live again',
            undo: 'edit the sale, down to what is held and sold',
          }}
        />
      }
      onConfirm={(form) => restock(state, textIn(form, 'product'), numberIn(form, 'quantity'))}
    >
      <label class="label">
        Product
        <span class="field">
          <select name="product">
            {products.map(({ product_id, name }) => (
              <option key={product_id} value={product_id}>
                {name}
              </option>
            ))}
          </select>
        </span>
      </label>
      <label class="label">
        More units
        <span class="field">
          <input type="number" name="quantity" min="1" required autofocus />
        </span>
      </label>
    </Confirm>
  )
}
