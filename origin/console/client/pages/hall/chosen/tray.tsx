/**
 * What operators do with the seats chosen on the map. It acts on the free ones, and says how many; on a phone it lies
 * over the map, at the thumb.
 */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { minorOf, money } from '../../../../../../shared/format.ts'
import type { Hall } from '../../../../../../shared/hall/hall-model.ts'
import { ApiError } from '../../../api.ts'
import { count, textIn } from '../../../format.ts'
import { instantOf } from '../../../local-time.ts'
import { Confirm, Failure, useSubmit } from '../../../parts.tsx'
import { may } from '../../../session.ts'
import { Effects } from '../../../sheet/dialog.tsx'
import { Keys } from '../../../sheet/icon.tsx'
import type { Done } from '../../../toast.tsx'
import { sellAtBoxOffice } from '../hall-api.ts'
import { bySection, type SeatState, STATES, seatName } from '../seats.ts'
import { ChosenRows } from './move-seat.tsx'
import { block, price, release, units } from './seat-acts.ts'

interface TrayProps {
  readonly sale: string
  readonly map: Hall
  readonly states: Uint8Array
  readonly currency: string
  readonly chosen: ReadonlySet<number>
  onClear(): void
}

export function Tray({ sale, map, states, currency, chosen, onClear }: TrayProps) {
  const inState = (state: SeatState) => [...chosen].filter((index) => STATES[states[index] ?? 0] === state)
  const [free, held, blocked] = [inState('free'), inState('held'), inState('blocked')]
  const [only] = chosen
  const seat = chosen.size === 1 ? map.seats[only ?? -1] : undefined
  const freeSeats = { sale, map, seats: free }
  const isOne = free.length === 1
  return (
    <section class="sec tray" aria-label="Chosen seats">
      <i class="grab" aria-hidden="true" />
      <header>
        <h2>{seat ? seatName(seat) : `${units(chosen.size)} chosen`}</h2>
        <button type="button" class="btn bare end" onClick={onClear}>
          None<Keys class="wide">Esc</Keys>
        </button>
      </header>
      <div role="status">
        <ul class="key" aria-label="States of the chosen seats">
          {STATES.flatMap((state) => {
            const many = inState(state).length
            return many > 0
              ? [
                  <li key={state}>
                    <i class={`seat-mark ${state}`} aria-hidden="true" />
                    <b>{count(many)}</b> {state}
                  </li>,
                ]
              : []
          })}
        </ul>
      </div>
      {!seat && <ChosenRows map={map} chosen={chosen} />}
      {!may('operator') && <p class="note">Only operators and owners act on seats.</p>}
      {may('operator') && free.length > 0 && (
        <>
          <Sell sale={sale} map={map} seats={free} currency={currency} onSold={onClear} />
          <div class="cards pair-acts">
            <Confirm
              action={`Hold ${count(free.length)} back`}
              text={`Hold ${count(free.length)} back`}
              title={`Hold ${units(free.length)} back?`}
              icon="clock"
              effect={
                <Effects
                  effects={{
                    stops: `nobody can buy ${isOne ? 'it' : 'them'} until the time, within 2 s`,
                    goesOn: heldText(held.length),
                    undo: 'release them; at the time they are for sale by themselves',
                  }}
                />
              }
              onConfirm={(form) => {
                const until = textIn(form, 'until')
                return block(freeSeats, textIn(form, 'reason'), instantOf(until, null))
              }}
            >
              <label class="label">
                For whom, for the records
                <span class="field">
                  <input name="reason" required maxLength={200} autocomplete="off" placeholder="for guests" />
                </span>
              </label>
              <label class="label">
                Until
                <span class="field">
                  <input name="until" type="datetime-local" step="1" required />
                </span>
              </label>
            </Confirm>
            <Confirm
              action={`Block ${units(free.length)}`}
              text={`Block ${count(free.length)}`}
              title={`Block ${units(free.length)}?`}
              icon="ban"
              effect={
                <Effects
                  effects={{
                    stops: `nobody can buy ${isOne ? 'it' : 'them'}, within 2 s`,
                    goesOn: heldText(held.length),
                    undo: 'release them',
                  }}
                />
              }
              onConfirm={(form) => block(freeSeats, textIn(form, 'reason'))}
            >
              <label class="label">
                Why, for the records
                <span class="field">
                  <input name="reason" required maxLength={200} autocomplete="off" placeholder="for the camera" />
                </span>
              </label>
            </Confirm>
          </div>
          <p class="small quiet">
            {free.length < chosen.size && `Only the ${count(free.length)} that are free; the others stay as they are. `}
            Held back is for somebody, until a time; blocked is for nobody.
          </p>
          <Prices {...freeSeats} currency={currency} />
        </>
      )}
      {may('operator') && blocked.length > 0 && (
        <p>
          <Confirm
            action={`Release ${units(blocked.length)}`}
            icon="undo"
            effect={
              `${blocked.length === 1 ? 'It is' : 'They are'} for sale at once. Undo: block again, while ` +
              'nobody has bought.'
            }
            onConfirm={(form) => release({ sale, map, seats: blocked }, textIn(form, 'reason'))}
          >
            <label class="label">
              Reason, for the records
              <span class="field">
                <input name="reason" required maxLength={200} autocomplete="off" defaultValue="released" />
              </span>
            </label>
          </Confirm>
        </p>
      )}
    </section>
  )
}

const heldText = (held: number) =>
  held === 0
    ? 'all other seats are sold'
    : `the ${count(held)} that ${held === 1 ? 'is' : 'are'} held can still be paid`

interface SeatsProps {
  readonly sale: string
  readonly map: Hall
  readonly seats: readonly number[]
  readonly currency: string
}

/** An order has at most so many lines, and each seat is one. */
const MOST_SOLD = 100

/** Sells the free seats at once, at the box office. */
function Sell({ sale, map, seats, currency, onSold }: SeatsProps & { onSold(): void }) {
  // The key stays the same until there is a response, so that a repeated call sells once.
  const key = useRef(crypto.randomUUID())
  const prices = Map.groupBy(seats, (index) => {
    const seat = map.seats[index]
    return JSON.stringify([seat?.section.name, seat?.price_minor])
  })
  const sum = seats.reduce((all, index) => all + (map.seats[index]?.price_minor ?? 0), 0)
  const amount = (minor: number) => money('en', minor, currency)
  const sell = async (form: FormData): Promise<Done> => {
    const [note, email] = [textIn(form, 'note'), textIn(form, 'email')]
    const lines = [...bySection(map, seats)].map(([section_id, ids]) => ({ section_id, seats: ids }))
    try {
      const order = await sellAtBoxOffice(
        sale,
        { lines, ...(note !== '' && { note }), ...(email !== '' && { contact: { email } }) },
        key.current,
      )
      onSold()
      return {
        text: `${units(seats.length)} ${seats.length === 1 ? 'is' : 'are'} sold for ${amount(order.total_minor)}.`,
      }
    } catch (error) {
      // The call was refused for good, so the next one is another sale with a new key.
      if (error instanceof ApiError && error.problem.status >= 400 && error.problem.status < 500)
        key.current = crypto.randomUUID()
      throw error
    }
  }
  if (seats.length > MOST_SOLD) return <p class="note">The box office sells at most {MOST_SOLD} seats in one order.</p>
  return (
    <p class="stack">
      <Confirm
        action={`Sell ${units(seats.length)}`}
        text={`Sell ${count(seats.length)} for ${amount(sum)}`}
        act={`Sell for ${amount(sum)}`}
        title={`Sell ${units(seats.length)} at the box office`}
        icon="card"
        look="primary"
        effect={
          <dl class="bill">
            {[...prices].map(([name, group]) => {
              const [section, each] = JSON.parse(name) as readonly [string, number]
              return (
                <div key={name}>
                  <dt>
                    {count(group.length)} × {section}
                    <small class="quiet">each {amount(each)}</small>
                  </dt>
                  <dd>{amount(each * group.length)}</dd>
                </div>
              )
            })}
            <div class="sum">
              <dt>Before fees and tax</dt>
              <dd>{amount(sum)}</dd>
            </div>
          </dl>
        }
        onConfirm={sell}
      >
        <label class="label">
          Mail of the buyer, may be left out
          <span class="field">
            <input name="email" type="email" autocomplete="off" />
          </span>
        </label>
        <label class="label">
          Note, for the records, may be left out
          <span class="field">
            <input name="note" maxLength={200} autocomplete="off" placeholder="paid in cash" />
          </span>
        </label>
        <p class="quote small">They are sold at once and count as paid. The order can be refunded afterwards.</p>
      </Confirm>
    </p>
  )
}

/** Sets the price or the category of the free seats. */
function Prices({ sale, map, seats, currency }: SeatsProps) {
  const typed = useSignal({ price: '', category: '' })
  const of = <T,>(read: (index: number) => T) => [...new Set(seats.map(read))]
  const prices = of((index) => map.seats[index]?.price_minor ?? 0).map((minor) => money('en', minor, currency))
  const categories = of((index) => map.seats[index]?.category ?? '').filter((name) => name !== '')
  const all = [...new Set(map.seats.map(({ category }) => category))].filter((name) => name !== '')
  const { onSubmit, error, isPending } = useSubmit(async () => {
    const { price: text, category } = typed.value
    const price_minor = text === '' ? undefined : minorOf(text, currency)
    if (price_minor === null) throw new Error('Write the price as a number, such as 94.00.')
    const done = await price(
      { sale, map, seats },
      { ...(price_minor !== undefined && { price_minor }), ...(category !== '' && { category }) },
    )
    typed.value = { price: '', category: '' }
    return done
  })
  const set = (changes: Partial<typeof typed.value>) => (typed.value = { ...typed.value, ...changes })
  const isEmpty = typed.value.price === '' && typed.value.category === ''
  return (
    <form class="stack" aria-label="Price and category" onSubmit={onSubmit}>
      <div class="cards pair-acts">
        <label class="label">
          Price
          <span class="field">
            <input
              inputMode="decimal"
              autocomplete="off"
              placeholder={prices.slice(0, 3).join(' and ')}
              value={typed.value.price}
              onInput={({ currentTarget }) => set({ price: currentTarget.value })}
            />
          </span>
        </label>
        <label class="label">
          Category
          <span class="field">
            <input
              list="categories"
              maxLength={100}
              autocomplete="off"
              placeholder={categories.slice(0, 3).join(' and ')}
              value={typed.value.category}
              onInput={({ currentTarget }) => set({ category: currentTarget.value })}
            />
          </span>
          <datalist id="categories">
            {all.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </label>
      </div>
      <Failure error={error} />
      <p class="row">
        <button type="submit" class="btn" disabled={isEmpty || isPending}>
          Set for {count(seats.length)}
        </button>
        <span class="note">What is in carts keeps its price.</span>
      </p>
    </form>
  )
}
