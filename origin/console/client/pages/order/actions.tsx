/** What an operator may do with an order: send it, refund it, cancel it, and block its buyer. */

import { money } from '../../../../../shared/format.ts'
import { admin } from '../../api.ts'
import { textIn } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { Menu } from '../../sheet/menu.tsx'
import { block, unblock } from '../access/blocks.tsx'
import { LineChoice, linesIn, Remark, reasonIn } from './line-choice.tsx'
import { type Order, openLines } from './order.ts'
import { Refund } from './refund.tsx'

const call = admin.orders[':order']
const NO_UNDO = 'There is no undo.'

export function Actions({ order }: { readonly order: Order }) {
  if (!may('operator')) return null
  const { status } = order
  const isPaid = status === 'confirmed' || status === 'fulfilled' || status === 'refunded'
  const isSplit = (status === 'reserved' || status === 'confirmed') && openLines(order).length > 1
  return (
    <div class="row">
      {isPaid && <Refund key={`${order.refunded_minor} ${openLines(order).length}`} order={order} />}
      {status === 'confirmed' && <Send order={order} />}
      <Menu label="More: cancel the order, put units back, block the buyer">
        {isSplit && <CancelLines order={order} />}
        {CANCELLED[status] !== undefined && <Cancel order={order} />}
        {isPaid && order.refunded_minor > 0 && <PutBack order={order} />}
        <Block order={order} />
      </Menu>
    </div>
  )
}

const Send = ({ order }: { readonly order: Order }) => (
  <Confirm
    action={order.is_parcel ? 'Mark as sent' : 'Mark as handed over'}
    icon="truck"
    look="primary"
    keys="S"
    effect={
      <Effects
        effects={{
          stops: 'it can no longer be cancelled, only refunded',
          goesOn: order.is_parcel ? 'a mail says that it is on its way' : 'a mail says that it was handed over',
          undo: NO_UNDO,
        }}
      />
    }
    onConfirm={async () => {
      await call.fulfil.$post({ param: { order: order.order_id } })
      return { text: order.is_parcel ? 'The order is sent.' : 'The order is handed over.' }
    }}
  />
)

/** What a cancellation stops and keeps, by the order's current status. */
const CANCELLED: Readonly<Partial<Record<Order['status'], { readonly stops: string; readonly goesOn: string }>>> = {
  reserved: { stops: 'the hold ends', goesOn: 'its units are for sale again; nothing was paid' },
  paying: {
    stops: 'the payment under way is called off; if the provider takes the money all the same, it goes back by itself',
    goesOn: 'its units are for sale again',
  },
  confirmed: {
    stops: 'the buyer gets nothing',
    goesOn: '{total} goes back to the buyer, and its units are for sale again',
  },
}

function Cancel({ order: { order_id, status, total_minor, currency } }: { readonly order: Order }) {
  const { stops, goesOn = '' } = CANCELLED[status] ?? {}
  return (
    <li>
      <Confirm
        action="Cancel the order"
        icon="ban"
        look="bare"
        danger
        effect={
          <Effects
            effects={{ stops, goesOn: goesOn.replace('{total}', money('en', total_minor, currency)), undo: NO_UNDO }}
          />
        }
        onConfirm={async (form) => {
          await call.cancel.$post({ param: { order: order_id }, json: reasonIn(form) })
          return { text: 'The order is cancelled.' }
        }}
      >
        <Remark name="reason" label="Reason" />
      </Confirm>
    </li>
  )
}

const CancelLines = ({ order }: { readonly order: Order }) => (
  <li>
    <Confirm
      action="Cancel lines"
      icon="ban"
      look="bare"
      danger
      effect={
        <Effects
          effects={{
            stops: 'the buyer does not get the chosen lines',
            goesOn:
              order.status === 'confirmed'
                ? 'the price of these lines goes back, and their units are for sale again'
                : 'their units are for sale again, and the buyer pays for the others only',
            isKept: 'the other lines',
            undo: NO_UNDO,
          }}
        />
      }
      onConfirm={async (form) => {
        const lines = linesIn(form)
        if (lines.length === 0) throw new Error('Choose the lines to cancel.')
        await call.cancel.$post({ param: { order: order.order_id }, json: { lines, ...reasonIn(form) } })
        return { text: lines.length === 1 ? 'The line is cancelled.' : 'The lines are cancelled.' }
      }}
    >
      <LineChoice order={order} legend="Lines to cancel" />
      <Remark name="reason" label="Reason" />
    </Confirm>
  </li>
)

function PutBack({ order }: { readonly order: Order }) {
  const unreturned = order.lines.filter((one) => one.status !== 'returned')
  return (
    <li>
      <Confirm
        action="Put units back on sale"
        icon="box"
        look="bare"
        danger
        effect={
          <Effects
            effects={{
              goesOn: 'what was refunded is sold again: the chosen lines, or all that were refunded',
              isKept: 'no money moves',
              undo: NO_UNDO,
            }}
          />
        }
        onConfirm={async (form) => {
          const lines = linesIn(form)
          await call.return.$post({
            param: { order: order.order_id },
            json: lines.length > 0 ? { lines } : {},
          })
          return { text: 'The units are for sale again.' }
        }}
      >
        {unreturned.length > 1 && <LineChoice order={order} lines={unreturned} legend="Lines (may be left out)" />}
      </Confirm>
    </li>
  )
}

function Block({ order: { order_id: order, block: blocked } }: { readonly order: Order }) {
  if (blocked)
    return (
      <li>
        <Confirm
          action="Unblock the buyer"
          icon="check"
          look="bare"
          effect={
            <Effects
              effects={{
                goesOn: 'they can join again',
                stops: 'a place that was lost stays lost',
                undo: 'block them again, here or by the message that follows',
              }}
            />
          }
          onConfirm={() => unblock(blocked.block, { order, note: blocked.note }, 'The buyer')}
        />
      </li>
    )
  return (
    <li>
      <Confirm
        action="Block the buyer"
        icon="lock"
        look="bare"
        danger
        effect={
          <Effects
            effects={{
              stops: 'whoever made this order can join no sale any more, and loses their place in all of them',
              goesOn: 'what they hold goes back on sale',
              isKept: 'what is paid stays paid',
              undo: 'unblock them, here or by the message that follows',
            }}
          />
        }
        onConfirm={(form) => block({ order, note: textIn(form, 'note') }, 'The buyer')}
      >
        <Remark name="note" label="Note" />
      </Confirm>
    </li>
  )
}
