/** The operator's actions for the seats chosen on the map: block them, release them, see who has one, move a seat. */
import { useMutation, useQuery } from '@tanstack/preact-query'
import { Link, useLocation } from 'wouter-preact'
import type { Hall, Seat } from '../../../../../shared/hall/hall-model.ts'
import { admin, read } from '../../api.ts'
import { Confirm, count, Failure, Loading, moment, textIn } from '../../parts.tsx'
import { may } from '../../session.ts'
import type { Done } from '../../toast.tsx'
import { moveSeat, readHolder, setBlocked } from './hall-api.ts'
import { bySection, moveLink, rowsInWords, type SeatState, STATES, seatName } from './seats.ts'

const SHOWN_ROWS = 12
/** One call changes at most this many seats. */
const MAX_CHANGED = 5_000
const units = (seats: number) => `${count(seats)} ${seats === 1 ? 'seat' : 'seats'}`

interface SelectionProps {
  readonly sale: string
  readonly map: Hall
  readonly states: Uint8Array
  readonly chosen: ReadonlySet<number>
  readonly onClear: () => void
}

export function Selection({ sale, map, states, chosen, onClear }: SelectionProps) {
  const inState = (state: SeatState) => [...chosen].filter((index) => STATES[states[index] ?? 0] === state)
  const [free, blocked] = [inState('free'), inState('blocked')]
  const [only] = chosen
  const seat = chosen.size === 1 ? map.seats[only ?? -1] : undefined
  const sums = STATES.flatMap((state) => {
    const many = inState(state).length
    return many > 0 ? [`${count(many)} ${state}`] : []
  })
  return (
    <section class="sec" aria-label="Chosen seats">
      <div class="card-head">
        <h2>{seat ? seatName(seat) : `${units(chosen.size)} chosen`}</h2>
        <button type="button" class="link" onClick={onClear}>
          Choose none
        </button>
      </div>
      <p role="status">{sums.join(', ')}</p>
      {seat ? <Holder sale={sale} seat={seat} /> : <ChosenRows map={map} chosen={chosen} />}
      {may('operator') && (
        <div class="buttons start">
          {free.length > 0 && (
            <Confirm
              action={`Block ${units(free.length)}`}
              effect={
                `Nobody can buy ${free.length === 1 ? 'it' : 'them'} until ` +
                `${free.length === 1 ? 'it is' : 'they are'} released. Undo: release.`
              }
              onConfirm={(form) => block(sale, map, free, textIn(form, 'reason'))}
            >
              <label>
                Reason, for the records
                <input name="reason" required maxLength={200} autocomplete="off" placeholder="for the camera" />
              </label>
            </Confirm>
          )}
          {blocked.length > 0 && (
            <Confirm
              action={`Release ${units(blocked.length)}`}
              effect={
                `${blocked.length === 1 ? 'It is' : 'They are'} for sale at once. Undo: block again, while ` +
                'nobody has bought.'
              }
              onConfirm={(form) => release(sale, map, blocked, textIn(form, 'reason'))}
            >
              <label>
                Reason, for the records
                <input name="reason" required maxLength={200} autocomplete="off" defaultValue="released" />
              </label>
            </Confirm>
          )}
        </div>
      )}
    </section>
  )
}

export function ChosenRows({ map, chosen }: Pick<SelectionProps, 'map' | 'chosen'>) {
  const rows = rowsInWords(map, chosen)
  return (
    <ul class="effects">
      {rows.slice(0, SHOWN_ROWS).map((text) => (
        <li key={text}>{text}</li>
      ))}
      {rows.length > SHOWN_ROWS && <li class="quiet">and {count(rows.length - SHOWN_ROWS)} more rows</li>}
    </ul>
  )
}

async function block(sale: string, map: Hall, seats: readonly number[], reason: string): Promise<Done> {
  await change(sale, map, seats, reason, true)
  const text = `${units(seats.length)} ${seats.length === 1 ? 'is' : 'are'} blocked: ${reason}.`
  return { text, undo: () => release(sale, map, seats, 'undone') }
}

async function release(sale: string, map: Hall, seats: readonly number[], reason: string): Promise<Done> {
  await change(sale, map, seats, reason, false)
  return { text: `${units(seats.length)} ${seats.length === 1 ? 'is' : 'are'} for sale.` }
}

/**
 * Sends one call for each section and each allowed number of seats. If a call is refused, the earlier ones have taken
 * effect, and the map shows it.
 */
async function change(sale: string, map: Hall, seats: readonly number[], reason: string, isBlock: boolean) {
  for (const [section, ids] of bySection(map, seats))
    for (let i = 0; i < ids.length; i += MAX_CHANGED)
      await setBlocked(sale, section, ids.slice(i, i + MAX_CHANGED), reason, isBlock)
}

/** Shows who has the seat, or why nobody can get it. */
function Holder({ sale, seat }: { sale: string; seat: Seat }) {
  const section = seat.section.id
  const { data, error } = useQuery({
    queryKey: ['hall', sale, section, seat.seat_id],
    queryFn: () => readHolder(sale, section, seat.seat_id),
  })
  if (!data) return error ? <Failure error={error} /> : <Loading />
  const { state, order, status, since, reason } = data
  const at = since === undefined ? '' : ` since ${moment(since)}`
  if (order === undefined) return <p>{state === 'blocked' ? `Blocked${at}: ${reason}` : `Nobody has it.`}</p>
  return (
    <>
      <p>
        <Link href={`/console/orders/${order}`}>
          Order <code>{order.slice(0, 8)}</code>
        </Link>{' '}
        {status} {at}
      </p>
      {may('operator') && <MoveButton sale={sale} seat={seat} order={order} />}
    </>
  )
}

/** Reads the order only when the button is pressed, because the audit log names every operator who reads one. */
function MoveButton({ sale, seat, order }: { sale: string; seat: Seat; order: string }) {
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
        <button type="button" disabled={isPending} onClick={() => mutate()}>
          Move to another seat
        </button>
      </p>
      <Failure error={error} />
    </>
  )
}

interface MoveProps extends Pick<SelectionProps, 'sale' | 'map' | 'states' | 'chosen'> {
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
      <div class="card-head">
        <h2>Move {seatName(from)}</h2>
        <Link href={`/console/orders/${id}`}>Leave it where it is</Link>
      </div>
      <p>
        {isOpen && to
          ? `The new seat: ${seatName(to)}.`
          : 'Choose one free seat, on the map or by name: the buyer gets that one instead.'}
      </p>
      {isOpen && to && (
        <div class="buttons start">
          <Confirm
            action="Move here"
            effect={
              `The buyer has ${seatName(to)} instead of ${seatName(from)}, which is for sale again. What was paid ` +
              'stays. Undo: move it back.'
            }
            onConfirm={() => move(to, from)}
          />
        </div>
      )}
      <p class="quiet">
        <Link href={`/console/sales/${sale}/hall`}>Back to the hall</Link>
      </p>
    </section>
  )
}
