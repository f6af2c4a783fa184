/** Gives money of an order back. The dialog and its button say the amount, and what becomes of the units. */

import { useRef, useState } from 'preact/hooks'
import { decimal, minorOf, money } from '../../../../../shared/format.ts'
import { ApiError, admin } from '../../api.ts'
import { textIn } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { LineChoice, linesIn, Remark, reasonIn } from './line-choice.tsx'
import { type Order, openLines, openRefunds, proposedMinor, restMinor } from './order.ts'
import { paidWith } from './timeline.ts'

const REASONS = ['The buyer changed their mind', 'Damaged', 'Not delivered']

export function Refund({ order }: { readonly order: Order }) {
  // The key stays the same until there is a response, so that a repeated call refunds once.
  const key = useRef(crypto.randomUUID())
  const amount = useRef<HTMLInputElement>(null)
  const { currency } = order
  const rest = restMinor(order)
  const open = openRefunds(order).length
  const lines = openLines(order)
  const [typed, setTyped] = useState(decimal(rest, currency))
  const [isRestocked, setRestocked] = useState(false)
  const typedMinor = minorOf(typed.trim(), currency)
  /** The amount is the price of the chosen lines until the operator types another one. */
  const choose = (form: FormData) => {
    const proposed = decimal(proposedMinor(order, linesIn(form)), currency)
    if (amount.current) amount.current.value = proposed
    setTyped(proposed)
  }
  const refund = async (form: FormData) => {
    const amount_minor = minorOf(textIn(form, 'amount'), currency)
    if (amount_minor === null || amount_minor === 0)
      throw new Error(`Write the amount as a number, such as ${decimal(rest, currency)}.`)
    if (amount_minor > rest) throw new Error(`At most ${money('en', rest, currency)} is left.`)
    const chosen = linesIn(form)
    const restock = form.get('restock') === 'on'
    const json = { amount_minor, restock, ...(chosen.length > 0 && { lines: chosen }), ...reasonIn(form) }
    try {
      const headers = { 'idempotency-key': key.current }
      await admin.orders[':order'].refund.$post({ param: { order: order.order_id }, json }, { headers })
      key.current = crypto.randomUUID()
      return { text: `${money('en', amount_minor, currency)} is on its way back to the buyer.` }
    } catch (error) {
      if (error instanceof ApiError && error.problem.status >= 400 && error.problem.status < 500)
        key.current = crypto.randomUUID()
      throw error
    }
  }
  const goesBack = typedMinor ? `${money('en', typedMinor, currency)} goes back` : 'The amount goes back'
  const method = paidWith(order)
  return (
    <Confirm
      action={typedMinor ? `Refund ${money('en', typedMinor, currency)}` : 'Refund'}
      text="Refund"
      title="Refund"
      icon="undo"
      keys="R"
      danger
      disabled={rest === 0}
      effect={
        <p class="quote small">
          <b>
            {goesBack} to {method === '' ? 'the buyer' : method}
          </b>{' '}
          in some days, and a mail says so. {isRestocked ? 'The units are for sale again.' : 'The units stay sold.'}{' '}
          <b>There is no undo.</b>
        </p>
      }
      onConfirm={refund}
    >
      {order.lines.length > 1 && lines.length > 0 && (
        <LineChoice order={order} legend="Lines (may be left out)" onChange={choose} />
      )}
      <label class="label">
        <span>
          Amount in {currency}{' '}
          <small class="quiet">
            at most {money('en', rest, currency)}
            {open > 0 && ', beside what is on its way'}
          </small>
        </span>
        <span class="field">
          <input
            ref={amount}
            name="amount"
            inputMode="decimal"
            autocomplete="off"
            required
            defaultValue={decimal(rest, currency)}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <span class="quiet">{currency}</span>
        </span>
      </label>
      <Remark name="reason" label="Reason" proposals={REASONS} />
      <label class="check">
        <input
          type="checkbox"
          name="restock"
          checked={isRestocked}
          onChange={({ currentTarget }) => setRestocked(currentTarget.checked)}
        />{' '}
        The units are for sale again: of the chosen lines, or all of the order, also where a part of the money is kept
      </label>
    </Confirm>
  )
}
