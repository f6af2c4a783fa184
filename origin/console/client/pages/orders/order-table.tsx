/** Orders as a table, with a picture of what was bought, and a box to choose each. On a phone a row is two lines. */
import { Link } from 'wouter-preact'
import type { FoundOrder } from '../../../../../shared/api/operators/answers.ts'
import { money } from '../../../../../shared/format.ts'
import { count, day, dayOfYear, minuteOf, moment, time } from '../../format.ts'
import { State } from '../../sheet/marks.tsx'
import { Picture } from '../../sheet/picture.tsx'
import { Table } from '../../sheet/table.tsx'
import { accountOf, boughtIn, stateOf } from '../order/order.ts'
import { paidWith } from '../order/timeline.ts'

interface OrderTableProps {
  readonly orders: readonly FoundOrder[]
  /** True while a newer list is read. */
  readonly isOld: boolean
  readonly chosen: ReadonlySet<string>
  onChoose(ids: ReadonlySet<string>): void
  onOpen(): void
}

export const buyerOf = ({ email, visitor }: Pick<FoundOrder, 'email' | 'visitor'>) =>
  email ?? accountOf(visitor) ?? 'buyer without a mail'
export const numberOf = ({ short_number, order_id }: Pick<FoundOrder, 'short_number' | 'order_id'>) =>
  short_number ?? order_id.slice(0, 8)

export function OrderTable({ orders, isOld, chosen, onChoose, onOpen }: OrderTableProps) {
  const isAll = orders.every(({ order_id }) => chosen.has(order_id))
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(id)
    else next.delete(id)
    onChoose(next)
  }
  return (
    <div class={isOld ? 'orders old' : 'orders'}>
      <Table
        label="Orders"
        rows={orders}
        keyOf={({ order_id }) => order_id}
        isChosen={({ order_id }) => chosen.has(order_id)}
        columns={[
          {
            name: 'Choose',
            head: (
              <input
                type="checkbox"
                aria-label="Choose all orders shown"
                checked={isAll}
                indeterminate={!isAll && chosen.size > 0}
                onChange={() => onChoose(new Set(isAll ? [] : orders.map(({ order_id }) => order_id)))}
              />
            ),
            phone: 'a',
            cell: (order) => (
              <label class="choose">
                <input
                  type="checkbox"
                  aria-label={`Choose the order ${numberOf(order)} of ${buyerOf(order)}`}
                  checked={chosen.has(order.order_id)}
                  onChange={({ currentTarget }) => choose(order.order_id, currentTarget.checked)}
                />
              </label>
            ),
          },
          {
            name: 'Buyer',
            cell: (order) => (
              <>
                <Link href={`/console/orders/${order.order_id}`} onClick={onOpen}>
                  {breakable(buyerOf(order))}
                </Link>
                <br />
                <small class="quiet">
                  <span class="mono">{numberOf(order)}</span> · ticket {count(order.ticket_number)}
                </small>
              </>
            ),
          },
          {
            name: 'Product',
            phone: 'z',
            cell: (order) => (
              <span class="row no-wrap">
                <span class="wide">
                  <Picture products={[{ name: order.product_name, images: imagesOf(order) }]} />
                </span>
                <span>
                  {boughtIn(order)}
                  <small class="quiet wide">
                    <br />
                    {order.sale_name}
                  </small>
                </span>
              </span>
            ),
          },
          {
            name: 'Amount',
            number: true,
            cell: ({ total_minor, currency }) => <b>{money('en', total_minor, currency)}</b>,
          },
          { name: 'Paid with', wide: true, cell: (order) => <Method order={order} /> },
          {
            name: 'Status',
            phone: 'z',
            cell: (order) => {
              const [level, words] = stateOf(order)
              return <State level={level}>{words}</State>
            },
          },
          {
            name: 'Made',
            number: true,
            wide: true,
            cell: ({ created_at }) => (
              <time class="quiet" dateTime={created_at} title={moment(created_at)}>
                {madeAt(created_at, new Date())}
              </time>
            ),
          },
        ]}
      />
    </div>
  )
}

/** A long mail breaks before its domain, and not within a word. */
function breakable(text: string) {
  const at = text.indexOf('@')
  return at < 0 ? (
    text
  ) : (
    <>
      {text.slice(0, at)}
      <wbr />
      {text.slice(at)}
    </>
  )
}

const imagesOf = ({ picture }: FoundOrder) => (picture === null ? [] : [{ url: picture }])

/** The time of today's orders, and the day of earlier ones. */
function madeAt(iso: string, now: Date): string {
  const at = new Date(iso)
  if (at.toDateString() === now.toDateString()) return time(iso)
  return `${(at.getFullYear() === now.getFullYear() ? day : dayOfYear)(iso)}, ${minuteOf(iso)}`
}

function Method({ order }: { readonly order: FoundOrder }) {
  const method = paidWith(order)
  const waits = { requires_action: ', the bank asks', declined: ', declined', pending: '' }
  const now = (waits as Readonly<Record<string, string>>)[order.payment?.status ?? ''] ?? ''
  if (method === '') return <span class="quiet">not paid{now}</span>
  return (
    <>
      {method}
      {now}
    </>
  )
}
