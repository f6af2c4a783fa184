/** One order: its current state, the possible actions, and its timeline. */
import './orders.css'
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { Link } from 'wouter-preact'
import { money } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { Copy, Failure, Loading, moment, TableHead, textIn, useSubmit, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { moveLink } from '../hall/seats.ts'
import { Actions } from './actions.tsx'
import { accountOf, addressLines, boughtIn, isPending, lineName, type Order } from './order.ts'
import { describe, reasonInWords } from './timeline.ts'

/** The page refreshes often while a change is expected, and otherwise in case another operator changes the order. */
const [PENDING_MS, SETTLED_MS] = [2_000, 10_000]

export function OrderPage({ order: id }: { order: string }) {
  const { data: order, error } = useQuery({
    queryKey: ['order', id],
    queryFn: () => read(admin.orders[':order'].$get({ param: { order: encodeURIComponent(id) } })),
    refetchInterval: ({ state }) => (!state.data || isPending(state.data) ? PENDING_MS : SETTLED_MS),
  })
  useTitle(`Order ${order?.short_number ?? id.slice(0, 8)} · Console`)
  if (!order) return error ? <Failure error={error} /> : <Loading />
  const { status, total_minor, refunded_minor, currency } = order
  return (
    <>
      <header class="sec order-head">
        <p class="badges">
          <span class={`phase ${status}`}>{status}</span>
          {isPending(order) && <span class="quiet">followed every two seconds</span>}
        </p>
        <h1>
          <span class="quiet">Order</span> {order.short_number ?? <code>{order.order_id}</code>}{' '}
          <Copy name="the order's number" text={order.short_number ?? order.order_id} />
        </h1>
        {order.short_number !== null && (
          <p class="quiet">
            <code>{order.order_id}</code> <Copy name="the order's id" text={order.order_id} />
          </p>
        )}
        <p>
          <b>{money('en', total_minor, currency)}</b> for {boughtIn(order)}, {order.sale_name}
          {refunded_minor > 0 && `, of which ${money('en', refunded_minor, currency)} was given back`}
        </p>
        {order.block && (
          <p>
            <b class="bad">The buyer is blocked</b> since {moment(order.block.blocked_at)}
            {order.block.note !== '' && `: ${order.block.note}`}
          </p>
        )}
        <Actions order={order} />
      </header>
      <Failure error={error} />
      <div class="order-columns">
        <div class="order-left">
          <Lines order={order} />
          <Facts order={order} />
        </div>
        <section class="sec" aria-label="Timeline">
          <h2>Timeline</h2>
          {may('operator') && <NoteForm order={order.order_id} />}
          <Timeline order={order} />
        </section>
      </div>
    </>
  )
}

/** A seat cannot be moved while a charge is in progress. */
const MOVABLE: readonly Order['status'][] = ['reserved', 'confirmed', 'fulfilled']

/** Each line shows the price paid for it, and the seat of a line can be moved. */
function Lines({ order: { order_id, sale, status, lines, currency, bill, total_minor } }: { order: Order }) {
  const isMovable = (line: Order['lines'][number]) =>
    line.seat_id !== undefined && line.status !== 'returned' && MOVABLE.includes(status) && may('operator')
  return (
    <section class="sec" aria-label="Lines">
      <h2>Lines</h2>
      <table class="order-lines">
        <TableHead columns={['Line', 'What', 'Status', 'Price']} texts={3} />
        <tbody>
          {lines.map((one) => (
            <tr key={one.line} class={one.status}>
              <th scope="row">{one.line}</th>
              <td>
                {lineName(one)} <small class="quiet">{one.seat_id ?? one.section_id ?? one.product_id}</small>
                {isMovable(one) && (
                  <>
                    {' '}
                    <Link href={moveLink(sale, order_id, one.line)}>
                      Move<span class="unseen"> {lineName(one)}</span>
                    </Link>
                  </>
                )}
              </td>
              <td>{one.status}</td>
              <td class="number">{money('en', one.unit_price_minor * one.quantity, currency)}</td>
            </tr>
          ))}
        </tbody>
        {bill.length > 0 && (
          <tfoot>
            {bill.map((one) => (
              <tr key={`${one.kind} ${one.name}`}>
                <td />
                <td>{one.name === '' ? one.kind : `${one.name}, ${one.kind}`}</td>
                <td>{one.included && 'included'}</td>
                <td class="number">{money('en', one.amount_minor, currency)}</td>
              </tr>
            ))}
            <tr>
              <td />
              <th scope="row">Total</th>
              <td />
              <td class="number">{money('en', total_minor, currency)}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  )
}

function Facts({ order }: { order: Order }) {
  const { sale, sale_name, visitor, ticket_number, contact, charge_id, payment_method } = order
  const account = accountOf(visitor)
  return (
    <section class="sec" aria-label="Facts">
      <h2>Facts</h2>
      <dl class="order-facts">
        <Fact name="Sale">
          <Link href={`/console/sales/${sale}`}>{sale_name}</Link> <small class="quiet">{sale}</small>
        </Fact>
        {account === null ? (
          <Fact name="Visitor" copy={visitor}>
            <code>{visitor}</code>
          </Fact>
        ) : (
          <Fact name="Account" copy={account}>
            {account}
          </Fact>
        )}
        <Fact name="Ticket number">{ticket_number}</Fact>
        {contact?.email && (
          <Fact name="Mail" copy={contact.email}>
            {contact.email}
          </Fact>
        )}
        {contact?.address && (
          <Fact name="Network address" copy={contact.address}>
            {contact.address}
          </Fact>
        )}
        {contact?.delivery && (
          <Fact name="Delivery" copy={addressLines(contact.delivery).join('\n')}>
            {addressLines(contact.delivery).map((line) => (
              <div key={line}>{line}</div>
            ))}
          </Fact>
        )}
        {contact && <Fact name="Contact is deleted">{moment(contact.delete_after)}</Fact>}
        {charge_id && (
          <Fact name="Charge" copy={charge_id}>
            <code>{charge_id}</code>
          </Fact>
        )}
        {payment_method && (
          <Fact name="Payment">
            {payment_method}, {order.attempts} {order.attempts === 1 ? 'attempt' : 'attempts'}
          </Fact>
        )}
        {order.reason_in_full && <Fact name="Reason">{reasonInWords(order.reason_in_full)}</Fact>}
        <Fact name="Made">{moment(order.created_at)}</Fact>
        {order.status === 'reserved' && order.reserved_until && (
          <Fact name="Held until">{moment(order.reserved_until)}</Fact>
        )}
        <Fact name="Idempotency key">
          <code>{order.idempotency_key}</code>
        </Fact>
      </dl>
    </section>
  )
}

function Fact({ name, copy, children }: { name: string; copy?: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children} {copy !== undefined && <Copy name={`the ${name.toLowerCase()}`} text={copy} />}
      </dd>
    </div>
  )
}

function NoteForm({ order }: { order: string }) {
  const note = async (form: FormData) => {
    await admin.orders[':order'].notes.$post({ param: { order }, json: { text: textIn(form, 'text') } })
    return { text: 'The note is in the timeline.' }
  }
  const { onSubmit, error } = useSubmit(note, (form) => form.reset())
  return (
    <form class="note-form" onSubmit={onSubmit}>
      <label>
        Note, for operators only
        <textarea name="text" rows={2} maxLength={2000} required />
      </label>
      <button type="submit">Add the note</button>
      <Failure error={error} />
    </form>
  )
}

function Timeline({ order }: { order: Order }) {
  return (
    <ol class="timeline">
      {order.history.map((entry, i) => {
        const { title, text, isWrong } = describe(entry, order)
        const at = new Date(entry.at)
        const isNewDay = at.toDateString() !== new Date(order.history[i - 1]?.at ?? 0).toDateString()
        return (
          <li key={i} class={`${entry.kind} ${isWrong ? 'wrong' : ''}`}>
            <time dateTime={entry.at}>
              {isNewDay && <span>{at.toLocaleDateString('en', { dateStyle: 'medium' })}</span>}
              {at.toLocaleTimeString('en', { timeStyle: 'medium', hourCycle: 'h23' })}
              <small>.{String(at.getMilliseconds()).padStart(3, '0')}</small>
            </time>
            <div>
              <h3>{title}</h3>
              {text !== '' && <p class={entry.kind === 'note' ? 'note-text' : ''}>{text}</p>}
              {Object.keys(entry.detail).length > 0 && (
                <details>
                  <summary>Details</summary>
                  <pre>{JSON.stringify(entry.detail, null, 2)}</pre>
                </details>
              )}
            </div>
          </li>
        )
      })}
    </ol>
  )
}
