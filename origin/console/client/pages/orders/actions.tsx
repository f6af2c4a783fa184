/** The operator's actions for an order: hand it over, refund it, cancel it. */
import { useRef, useState } from 'preact/hooks'
import { decimal, minorOf, money } from '../../../../../shared/format.ts'
import { ApiError, admin } from '../../api.ts'
import { Confirm, textIn } from '../../parts.tsx'
import { may } from '../../session.ts'
import { block, unblock } from '../access/blocks.tsx'
import { isParcel, lineName, type Order, openLines, openRefunds, proposedMinor, restMinor } from './order.ts'

export function Actions({ order }: { order: Order }) {
  if (!may('operator')) return null
  const { status, total_minor, currency } = order
  const call = admin.orders[':order']
  const param = { order: order.order_id }
  const cancelled = CANCELLED[status]
  const isSplit = (status === 'reserved' || status === 'confirmed') && openLines(order).length > 1
  const unreturned = order.lines.filter((one) => one.status !== 'returned')
  const isPaid = status === 'confirmed' || status === 'fulfilled' || status === 'refunded'
  return (
    <div class="buttons start">
      {status === 'confirmed' && (
        <Confirm
          action={isParcel(order) ? 'Mark as sent' : 'Mark as handed over'}
          effect={
            'The buyer is told that it is on its way. It can then be refunded, and not cancelled. There is no ' +
            'undo.'
          }
          onConfirm={async () => {
            await call.fulfil.$post({ param })
            return { text: isParcel(order) ? 'The order is sent.' : 'The order is handed over.' }
          }}
        />
      )}
      {isPaid && <Refund key={`${order.refunded_minor} ${openLines(order).length}`} order={order} />}
      {isPaid && order.refunded_minor > 0 && (
        <Confirm
          action="Put units back on sale"
          danger
          effect={
            'What was refunded is sold again: the chosen lines, or all that were refunded. No money moves. There ' +
            'is no undo.'
          }
          onConfirm={async (form) => {
            const lines = linesIn(form)
            await call.return.$post({ param, json: lines.length > 0 ? { lines } : {} })
            return { text: 'The units are for sale again.' }
          }}
        >
          {unreturned.length > 1 && <LineChoice order={order} lines={unreturned} legend="Lines (may be left out)" />}
        </Confirm>
      )}
      {isSplit && (
        <Confirm
          action="Cancel lines"
          danger
          effect={
            status === 'confirmed'
              ? 'The buyer gets the price of these lines back, and their units are for sale again. There is no undo.'
              : 'The units of these lines are for sale again, and the buyer pays for the others only. There is no undo.'
          }
          onConfirm={async (form) => {
            const lines = linesIn(form)
            if (lines.length === 0) throw new Error('Choose the lines to cancel.')
            await call.cancel.$post({ param, json: { lines, ...reasonIn(form) } })
            return { text: lines.length === 1 ? 'The line is cancelled.' : 'The lines are cancelled.' }
          }}
        >
          <LineChoice order={order} legend="Lines to cancel" />
          <Remark name="reason" label="Reason" />
        </Confirm>
      )}
      {cancelled !== undefined && (
        <Confirm
          action="Cancel the order"
          danger
          effect={cancelled.replace('{total}', money('en', total_minor, currency))}
          onConfirm={async (form) => {
            await call.cancel.$post({ param, json: reasonIn(form) })
            return { text: 'The order is cancelled.' }
          }}
        >
          <Remark name="reason" label="Reason" />
        </Confirm>
      )}
      {order.block ? (
        <Confirm
          action="Unblock the buyer"
          effect="They can join again; a place that was lost stays lost. Undo: block them again."
          onConfirm={() => unblock(order.block?.block ?? '', { ...param, note: order.block?.note ?? '' }, 'The buyer')}
        />
      ) : (
        <Confirm
          action="Block the buyer"
          danger
          effect={
            'Whoever made this order can join no sale any more, and loses their place in all of them. What they ' +
            'hold goes back on sale; what is paid stays paid. Undo: unblock them here.'
          }
          onConfirm={(form) => block({ ...param, note: textIn(form, 'note') }, 'The buyer')}
        >
          <Remark name="note" label="Note" />
        </Confirm>
      )}
    </div>
  )
}

/** The effect of a cancellation, by the order's current status. */
const CANCELLED: Readonly<Partial<Record<Order['status'], string>>> = {
  reserved: 'The hold ends, and its units are for sale again. Nothing was paid. There is no undo.',
  paying:
    'Its units are for sale again. The payment under way is called off; if the provider takes the money all the ' +
    'same, it goes back by itself. There is no undo.',
  confirmed: 'The buyer gets {total} back, and the units are for sale again. There is no undo.',
}

const linesIn = (form: FormData) => form.getAll('line').map(Number)

/** The reason that the operator typed, if any. */
function reasonIn(form: FormData): { reason?: string } {
  const reason = textIn(form, 'reason')
  return reason === '' ? {} : { reason }
}

/** A text for the audit log, which may be left out. */
const Remark = ({ name, label }: { name: string; label: string }) => (
  <label>
    {label}, for the records (may be left out)
    <input name={name} maxLength={200} autocomplete="off" />
  </label>
)

/** A checkbox for each order line. By default it lists the lines that can still be returned. */
function LineChoice({
  order,
  lines = openLines(order),
  legend,
  onChange,
}: {
  order: Order
  lines?: Order['lines']
  legend: string
  onChange?: (form: FormData) => void
}) {
  return (
    <fieldset
      class="line-choice"
      onChange={({ target }) => {
        const { form } = target as HTMLInputElement
        if (form) onChange?.(new FormData(form))
      }}
    >
      <legend>{legend}</legend>
      {lines.map((one) => (
        <label key={one.line} class="check">
          <input type="checkbox" name="line" value={one.line} />
          <span>
            {lineName(one)}, {money('en', one.cost_minor, order.currency)}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function Refund({ order }: { order: Order }) {
  // The key stays the same until there is a response, so that a repeated call refunds once.
  const key = useRef(crypto.randomUUID())
  const amount = useRef<HTMLInputElement>(null)
  const { currency } = order
  const rest = restMinor(order)
  const open = openRefunds(order).length
  const lines = openLines(order)
  const [typed, setTyped] = useState(decimal(rest, currency))
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
    const json = {
      amount_minor,
      restock,
      ...(chosen.length > 0 && { lines: chosen }),
      ...reasonIn(form),
    }
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
  return (
    <Confirm
      action={typedMinor ? `Refund ${money('en', typedMinor, currency)}` : 'Refund'}
      text="Refund"
      title="Refund"
      danger
      disabled={rest === 0}
      effect={
        `Up to ${money('en', rest, currency)} can go back to the ` +
        `buyer${open > 0 ? ', beside what is on its way' : ''}. Without the box below the units stay sold. ` +
        'There is no undo.'
      }
      onConfirm={refund}
    >
      {order.lines.length > 1 && lines.length > 0 && (
        <LineChoice order={order} legend="Lines (may be left out)" onChange={choose} />
      )}
      <label>
        Amount in {currency}
        <input
          ref={amount}
          name="amount"
          inputMode="decimal"
          autocomplete="off"
          required
          defaultValue={decimal(rest, currency)}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <Remark name="reason" label="Reason" />
      <label class="check">
        <input type="checkbox" name="restock" /> The units are for sale again: of the chosen lines, or all of the order,
        also where a part of the money is kept
      </label>
    </Confirm>
  )
}
