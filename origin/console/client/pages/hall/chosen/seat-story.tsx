/** One seat: who has it, and what it went through, the newest first. */
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import type { AsJson } from '../../../../../../shared/api/operators/answers.ts'
import type { SeatEvent } from '../../../../../../shared/api/operators/hall-admin.ts'
import { money } from '../../../../../../shared/format.ts'
import type { Seat } from '../../../../../../shared/hall/hall-model.ts'
import { instant, moment, shortly } from '../../../format.ts'
import { Failure, Loading } from '../../../parts.tsx'
import { may } from '../../../session.ts'
import { Icon, type IconName } from '../../../sheet/icon.tsx'
import { type Mark, State } from '../../../sheet/marks.tsx'
import { readHolder } from '../hall-api.ts'
import { MoveButton } from './move-seat.tsx'

const LEVELS: Readonly<Record<string, Mark>> = { sold: 'good', held: 'info', blocked: 'watch', available: 'off' }
const NAMES: Readonly<Record<string, string>> = { sold: 'Sold', held: 'Held', blocked: 'Off sale', available: 'Free' }

interface StoryProps {
  readonly sale: string
  readonly seat: Seat
  readonly currency: string
}

export function SeatStory({ sale, seat, currency }: StoryProps) {
  const [section, id] = [seat.section.id, seat.seat_id]
  const { data: holder, error } = useQuery({
    queryKey: ['hall', sale, section, id],
    queryFn: () => readHolder(sale, section, id),
  })
  const name = `Row ${seat.row}, seat ${seat.number}`
  return (
    <section class="sec" aria-label={name}>
      <header>
        <h2>{name}</h2>
        {holder && <State level={LEVELS[holder.state] ?? 'off'}>{NAMES[holder.state] ?? holder.state}</State>}
        {holder?.order !== undefined && (
          <Link class="end small" href={`/console/orders/${holder.order}`}>
            order {holder.order.slice(0, 6)}
          </Link>
        )}
      </header>
      <Failure error={error} />
      {!holder && !error && <Loading />}
      {holder?.reason !== undefined && (
        <p>
          {holder.reason}
          {holder.until !== undefined && `, until ${instant(holder.until)}`}
        </p>
      )}
      {holder?.history.length === 0 && <p class="quiet">Nobody had it yet.</p>}
      <ol class="story">
        {holder?.history.map((event, i) => (
          <EventOf key={i} event={event} currency={currency} />
        ))}
      </ol>
      {holder?.order !== undefined && may('operator') && <MoveButton sale={sale} seat={seat} order={holder.order} />}
    </section>
  )
}

const ICONS: Readonly<Record<SeatEvent['what'], IconName>> = {
  reserved: 'box',
  paid: 'check',
  returned: 'undo',
  blocked: 'ban',
  released: 'undo',
  priced: 'hall',
  moved: 'again',
}

/** What an order was when it gave the seat back. */
const ENDS: Readonly<Record<string, string>> = {
  expired: 'a hold ended unpaid',
  cancelled: 'the order was cancelled',
  declined: 'the payment was declined',
  returned: 'it was put back on sale',
}

function EventOf({ event, currency }: { readonly event: AsJson<SeatEvent>; readonly currency: string }) {
  const { at, what, by, price_minor: price, reason } = event
  const amount = price === undefined ? '' : money('en', price, currency)
  const because = reason === undefined ? '' : `: ${reason}`
  const level = what === 'paid' ? 'is-good' : by === undefined ? '' : 'is-info'
  return (
    <li class={level}>
      <span class="mk">
        <Icon name={ICONS[what]} />
      </span>
      <p>
        {by !== undefined && <b>{by} </b>}
        {what === 'reserved' && (amount === '' ? 'Reserved' : `Reserved at ${amount}`)}
        {what === 'paid' && (
          <>
            Paid{amount !== '' && ', '}
            <b>{amount}</b>
          </>
        )}
        {what === 'returned' && `Came back: ${ENDS[reason ?? ''] ?? reason}`}
        {what === 'blocked' && `took it out of sale${because}`}
        {what === 'released' && `put it on sale${because}`}
        {what === 'priced' && (amount === '' ? 'set its category' : `set the price to ${amount}`)}
        {what === 'moved' && 'moved an order from or to it'}
      </p>
      <time dateTime={at} title={moment(at)}>
        {shortly(at)}
      </time>
    </li>
  )
}
