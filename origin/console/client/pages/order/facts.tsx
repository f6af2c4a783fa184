/** The facts of an order, beside its story: what was bought, the buyer, the payment, and its numbers. */
import type { ComponentChildren } from 'preact'
import { Link } from 'wouter-preact'
import { money } from '../../../../../shared/format.ts'
import { count, languageName, moment } from '../../format.ts'
import { Copy } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Section } from '../../sheet/page.tsx'
import { moveLink } from '../hall/seats.ts'
import { accountOf, addressLines, lineName, type Order } from './order.ts'
import { paidWith } from './timeline.ts'

export const Facts = ({ order }: { readonly order: Order }) => (
  <>
    <Goods order={order} />
    <Buyer order={order} />
    <Payment order={order} />
    <Numbers order={order} />
  </>
)

/** A seat cannot be moved while a charge is in progress. */
const MOVABLE: readonly Order['status'][] = ['reserved', 'confirmed', 'fulfilled']

/** Each line shows the price paid for it, and the seat of a line can be moved. */
function Goods({ order: { order_id, sale, status, lines, currency, bill, total_minor } }: { readonly order: Order }) {
  const isMovable = (line: Order['lines'][number]) =>
    line.seat_id !== undefined && line.status !== 'returned' && MOVABLE.includes(status) && may('operator')
  return (
    <Section title="Goods">
      <ol class="bill" aria-label="Lines">
        {lines.map((line) => (
          <li key={line.line} class={line.status}>
            <span>
              {lineName(line)}
              {line.status === 'returned' && <small class="quiet"> for sale again</small>}
              <br />
              <small class="quiet">
                {lines.length > 1 && `line ${line.line}, `}
                <span class="mono">{line.seat_id ?? line.section_id ?? line.product_id}</span>
                {isMovable(line) && (
                  <>
                    {' '}
                    <Link href={moveLink(sale, order_id, line.line)}>
                      Move<span class="unseen"> {lineName(line)}</span>
                    </Link>
                  </>
                )}
              </small>
            </span>
            <span class="n">{money('en', line.unit_price_minor * line.quantity, currency)}</span>
          </li>
        ))}
        {bill.map((one) => (
          <li key={`${one.kind} ${one.name}`} class="quiet">
            <span>
              {one.included && 'of it '}
              {one.name === '' ? one.kind : one.name}
              {one.name !== '' && one.name.toLowerCase() !== one.kind && `, ${one.kind}`}
            </span>
            <span class="n">{money('en', one.amount_minor, currency)}</span>
          </li>
        ))}
        {(lines.length > 1 || bill.some(({ included }) => !included)) && (
          <li class="sum">
            <span>Total</span>
            <span class="n">{money('en', total_minor, currency)}</span>
          </li>
        )}
      </ol>
    </Section>
  )
}

function Buyer({ order: { visitor, contact } }: { readonly order: Order }) {
  const account = accountOf(visitor)
  return (
    <Section title="Buyer">
      <dl class="stack">
        {contact?.email && (
          <Fact name="Mail" copy={contact.email}>
            {contact.email}
          </Fact>
        )}
        <Fact name={account === null ? 'Visitor' : 'Account'} copy={account ?? visitor}>
          {account ?? <span class="mono">{visitor}</span>}
        </Fact>
        {contact?.delivery && (
          <Fact name="Delivery" copy={addressLines(contact.delivery).join('\n')}>
            <span>
              {addressLines(contact.delivery).map((line) => (
                <div key={line}>{line}</div>
              ))}
            </span>
          </Fact>
        )}
        {contact?.address && (
          <Fact name="Network address" copy={contact.address}>
            {contact.address}
          </Fact>
        )}
        {contact && <Fact name="Language">{languageName(contact.language)}</Fact>}
        <Fact name="Other orders">
          <Link href={`/console/orders?q=${encodeURIComponent(account ?? contact?.email ?? visitor)}`}>
            Find them by {account !== null ? 'account' : contact?.email ? 'mail' : 'visitor'}
          </Link>
        </Fact>
        {contact ? (
          <Fact name="Mail and address are deleted">{moment(contact.delete_after)}</Fact>
        ) : (
          <Fact name="Mail and address">none were given, or they are deleted</Fact>
        )}
      </dl>
    </Section>
  )
}

const wasPaid = ({ status, refunded_minor }: Order) =>
  status === 'confirmed' || status === 'fulfilled' || status === 'refunded' || refunded_minor > 0

function Payment({ order }: { readonly order: Order }) {
  const { total_minor, refunded_minor, refunding_minor, currency, charge_id, attempts } = order
  const amount = (minor: number) => money('en', minor, currency)
  const method = paidWith(order)
  return (
    <Section title="Payment">
      <dl class="stack">
        <Fact name={wasPaid(order) ? 'Paid' : 'To be paid'}>
          <b>{amount(total_minor)}</b>
        </Fact>
        <Fact name="Given back">{refunded_minor > 0 ? amount(refunded_minor) : 'nothing'}</Fact>
        {refunding_minor !== 0 && (
          <Fact name="On its way back">{refunding_minor === null ? 'whatever was left' : amount(refunding_minor)}</Fact>
        )}
        {charge_id && (
          <Fact name="Charge" copy={charge_id}>
            <span class="mono">{charge_id}</span>
          </Fact>
        )}
        {method !== '' && (
          <Fact name="Method">
            {method}, {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
          </Fact>
        )}
      </dl>
    </Section>
  )
}

function Numbers({ order }: { readonly order: Order }) {
  const { order_id, short_number, ticket_number, idempotency_key, created_at, status, reserved_until } = order
  return (
    <Section title="Numbers">
      <dl class="stack">
        {short_number !== null && (
          <Fact name="Number" copy={short_number}>
            {short_number}
          </Fact>
        )}
        <Fact name="Order" copy={order_id}>
          <span class="mono">{order_id}</span>
        </Fact>
        <Fact name="Ticket number">{count(ticket_number)}</Fact>
        <Fact name="Made">{moment(created_at)}</Fact>
        {status === 'reserved' && reserved_until && <Fact name="Held until">{moment(reserved_until)}</Fact>}
        <Fact name="Idempotency key" copy={idempotency_key}>
          <span class="mono">{idempotency_key}</span>
        </Fact>
      </dl>
    </Section>
  )
}

interface FactProps {
  readonly name: string
  readonly copy?: string
  readonly children: ComponentChildren
}

const Fact = ({ name, copy, children }: FactProps) => (
  <div>
    <dt class="small quiet">{name}</dt>
    <dd class="row no-wrap fact">
      {children}
      {copy !== undefined && <Copy name={`the ${name.toLowerCase()}`} text={copy} />}
    </dd>
  </div>
)
