/** Gives an order another seat, and lists chosen seats by row. */
import { useMutation, useQuery } from '@tanstack/preact-query'
import { Link, useLocation } from 'wouter-preact'
import type { Hall, Seat } from '../../../../../../shared/hall/hall-model.ts'
import { admin, read } from '../../../api.ts'
import { count } from '../../../format.ts'
import { Confirm, Failure, Loading } from '../../../parts.tsx'
import type { Done } from '../../../toast.tsx'
import { moveSeat } from '../hall-api.ts'
import { moveLink, rowsInWords, STATES, seatName } from '../seats.ts'

const SHOWN_ROWS = 12

export function ChosenRows({ map, chosen }: { readonly map: Hall; readonly chosen: ReadonlySet<number> }) {
  const rows = rowsInWords(map, chosen)
  return (
    <ul class="stack close small">
      {rows.slice(0, SHOWN_ROWS).map((text) => (
        <li key={text}>{text}</li>
      ))}
      {rows.length > SHOWN_ROWS && <li class="quiet">and {count(rows.length - SHOWN_ROWS)} more rows</li>}
    </ul>
  )
}

/** Reads the order only when the button is pressed, because the audit log names every operator who reads one. */
export function MoveButton({ sale, seat, order }: { sale: string; seat: Seat; order: string }) {
  const [, navigate] = useLocation()
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const { lines } = await read(admin.orders[':order'].$get({ param: { order } }))
      const line = lines.find(
        ({ section_id, seat_id, status }) =>
          section_id === seat.section.id && seat_id === seat.seat_id && status !== 'returned',
      )
      if (!line) throw new Error('The order does not have this seat any more.')
      navigate(moveLink(sale, order, line.line))
    },
  })
  return (
    <>
      <p>
        <button type="button" class="btn" disabled={isPending} onClick={() => mutate()}>
          Move to another seat
        </button>
      </p>
      <Failure error={error} />
    </>
  )
}

interface MoveProps {
  readonly sale: string
  readonly map: Hall
  readonly states: Uint8Array
  readonly chosen: ReadonlySet<number>
  readonly order: string
  readonly line: number
}

/** Shown while the new seat of an order is chosen. */
export function Move({ sale, map, states, chosen, order: id, line: number }: MoveProps) {
  const [, navigate] = useLocation()
  const { data: order, error } = useQuery({
    queryKey: ['move', id],
    queryFn: () => read(admin.orders[':order'].$get({ param: { order: id } })),
    staleTime: 'static',
  })
  if (!order) return error ? <Failure error={error} /> : <Loading />
  const line = order.lines.find(({ line }) => line === number)
  const from = map.seats.find(({ section, seat_id }) => section.id === line?.section_id && seat_id === line?.seat_id)
  const [only] = chosen
  const to = chosen.size === 1 ? map.seats[only ?? -1] : undefined
  const isOpen = to !== undefined && STATES[states[only ?? -1] ?? 0] === 'free'
  if (!line || !from) return <p role="alert">Line {number} of the order has no seat that can be moved.</p>
  const move = async (seat: Seat, back: Seat): Promise<Done> => {
    await moveSeat(id, number, seat.section.id, seat.seat_id)
    navigate(`/console/orders/${id}`)
    return { text: `The buyer has ${seatName(seat)}.`, undo: () => move(back, seat) }
  }
  return (
    <section class="sec" aria-label="Move a seat">
      <header>
        <h2>Move {seatName(from)}</h2>
        <Link href={`/console/orders/${id}`}>Leave it where it is</Link>
      </header>
      <p>
        {isOpen && to
          ? `The new seat: ${seatName(to)}.`
          : 'Choose one free seat, on the map or by name: the buyer gets that one instead.'}
      </p>
      {isOpen && to && (
        <p>
          <Confirm
            look="primary"
            action="Move here"
            effect={
              `The buyer has ${seatName(to)} instead of ${seatName(from)}, which is for sale again. What was paid ` +
              'stays. Undo: move it back.'
            }
            onConfirm={() => move(to, from)}
          />
        </p>
      )}
      <p class="quiet">
        <Link href={`/console/sales/${sale}/hall`}>Back to the hall</Link>
      </p>
    </section>
  )
}
