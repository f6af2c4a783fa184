/**
 * The box office sells seats from the map, the best available seats, standing places and products, and records the
 * payment at once.
 */
import './hall.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { MAX_LINES } from '../../../../../shared/api/public.ts'
import { money } from '../../../../../shared/format.ts'
import type { Hall } from '../../../../../shared/hall/hall-model.ts'
import { ApiError, admin, read } from '../../api.ts'
import { count, textIn } from '../../format.ts'
import { Confirm, Failure, Loading, useSubmit } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { EmptyState, Section } from '../../sheet/page.tsx'
import { soldBy } from '../../sold-by.ts'
import type { Done } from '../../toast.tsx'
import { type BasketLine, bestLine, type Goods, goodsLine, linesOf, sumOf } from './basket.ts'
import { ChosenRows } from './chosen/move-seat.tsx'
import { type HallState, type SoldOrder, sellAtBoxOffice } from './hall-api.ts'
import { HallHead, NoSections } from './hall-head.tsx'
import { HallMap } from './hall-map.tsx'
import { SeatFields } from './seat-fields.tsx'
import { STATES } from './seats.ts'
import { useHall } from './use-hall.ts'

export function BoxOfficePage({ sale }: { sale: string }) {
  const { hall, map, states, error } = useHall(sale)
  const { data: config } = useQuery({
    queryKey: ['sale', sale],
    queryFn: () => read(admin.sales[':sale'].$get({ param: { sale } })),
  })
  const products = soldBy(config?.products ?? [])
    .filter(({ section_type }) => !section_type)
    .map(({ product_id, name, unit_price_minor, currency }) => ({
      name,
      price_minor: unit_price_minor,
      currency,
      line: { product_id },
    }))
  if (!may('operator'))
    return (
      <>
        <HallHead sale={sale} end="/box-office" />
        <EmptyState text="Only operators and owners sell at the box office." />
      </>
    )
  const isReady = hall !== undefined && config !== undefined && (hall.sections.length === 0 || map !== undefined)
  return (
    <>
      <HallHead sale={sale} end="/box-office" />
      <Failure error={error} />
      {!isReady && !error && <Loading />}
      {isReady && hall.sections.length === 0 && <NoSections sale={sale} />}
      {isReady && hall.sections.length > 0 && (
        <Counter key={hall.version} sale={sale} hall={hall} map={map} states={states} products={products} />
      )}
    </>
  )
}

interface CounterProps {
  readonly sale: string
  readonly hall: HallState
  /** The map of a hall with seats; undefined without one. */
  readonly map: Hall | undefined
  readonly states: Uint8Array | undefined
  readonly products: readonly Goods[]
}

function Counter({ sale, hall, map, states = new Uint8Array(), products }: CounterProps) {
  const chosen = useSignal<ReadonlySet<number>>(new Set())
  const others = useSignal<readonly BasketLine[]>([])
  const sold = useSignal<SoldOrder | null>(null)
  // The key stays the same until there is a response, so that a repeated call sells once.
  const key = useRef(crypto.randomUUID())
  const isFree = (index: number) => STATES[states[index] ?? 0] === 'free'
  const currency = hall.sections[0]?.currency ?? 'EUR'
  const seats = [...chosen.value].filter(isFree)
  const lost = chosen.value.size - seats.length
  const lines = linesOf(map, seats, others.value)
  const { from_minor, to_minor } = sumOf(map, seats, others.value)
  const price =
    from_minor === to_minor
      ? money('en', from_minor, currency)
      : `${money('en', from_minor, currency)} to ${money('en', to_minor, currency)}`

  const sell = async (form: FormData): Promise<Done> => {
    const [note, email] = [textIn(form, 'note'), textIn(form, 'email')]
    const request = { lines, ...(note !== '' && { note }), ...(email !== '' && { contact: { email } }) }
    try {
      sold.value = await sellAtBoxOffice(sale, request, key.current)
    } catch (error) {
      // The call was refused for good, so the next one is another sale with a new key.
      if (error instanceof ApiError && error.problem.status >= 400 && error.problem.status < 500)
        key.current = crypto.randomUUID()
      throw error
    }
    key.current = crypto.randomUUID()
    chosen.value = new Set()
    others.value = []
    return { text: `Sold for ${money('en', sold.value.total_minor, sold.value.currency)}.` }
  }
  const standing = hall.sections
    .filter(({ type }) => type === 'general_admission')
    .map(({ section_id, name, price_minor }) => ({ name, price_minor, line: { section_id } }))
  return (
    <div class="hall-columns">
      {map && map.seats.length > 0 && (
        <section class="sec" aria-label="Map">
          <HallMap
            map={map}
            states={states}
            currency={currency}
            chosen={chosen.value}
            onChoose={(next) => {
              chosen.value = new Set([...next].filter(isFree))
            }}
          />
        </section>
      )}
      <div class="hall-side">
        {sold.value && <Sold order={sold.value} />}
        <Section title="To sell" label="Basket">
          {lines.length === 0 && <p class="quiet">Choose seats on the map, or add what is wanted below.</p>}
          {map && <ChosenRows map={map} chosen={new Set(seats)} />}
          <ul class="hall-blocks">
            {others.value.map((one, i) => (
              <li key={i}>
                <span>{one.text}</span>
                <button
                  type="button"
                  class="btn bare"
                  aria-label={`Take out ${one.text}`}
                  onClick={() => (others.value = others.value.filter((other) => other !== one))}
                >
                  <Icon name="x" />
                </button>
              </li>
            ))}
          </ul>
          {lost > 0 && (
            <p role="alert" class="failure">
              {count(lost)} of the seats you chose {lost === 1 ? 'was' : 'were'} taken meanwhile.
            </p>
          )}
          {lines.length > MAX_LINES && <p role="alert">An order has at most {MAX_LINES} lines.</p>}
          <p class="basket-sum">
            <span>Sum</span> <b>{price}</b>
          </p>
          <div class="row">
            <Confirm
              action="Sell"
              act={`Sell for ${price}`}
              icon="check"
              look="primary"
              disabled={lines.length === 0 || lines.length > MAX_LINES}
              effect={
                <Effects
                  effects={{
                    goesOn: 'it is sold at once, and counts as paid here',
                    undo: 'the order can be cancelled or refunded on its page',
                  }}
                />
              }
              onConfirm={sell}
            >
              <label class="label">
                <span>
                  Mail of the buyer <small class="quiet">may be left out</small>
                </span>
                <span class="field">
                  <input type="email" name="email" maxLength={254} autocomplete="off" />
                </span>
              </label>
              <label class="label">
                <span>
                  Note <small class="quiet">for the records, may be left out</small>
                </span>
                <span class="field">
                  <input name="note" maxLength={200} autocomplete="off" placeholder="paid in cash" />
                </span>
              </label>
            </Confirm>
            {lines.length > 0 && (
              <button
                type="button"
                class="btn bare"
                onClick={() => {
                  chosen.value = new Set()
                  others.value = []
                }}
              >
                Empty it
              </button>
            )}
          </div>
        </Section>
        <Adding
          map={map}
          goods={[...standing, ...products]}
          add={(line) => (others.value = [...others.value, line])}
          states={states}
        />
        {map && map.seats.length > 0 && (
          <Section title="Choose by name">
            <SeatFields
              map={map}
              onAdd={(indexes) => (chosen.value = new Set([...seats, ...indexes.filter(isFree)]))}
            />
          </Section>
        )}
      </div>
    </div>
  )
}

interface AddingProps {
  readonly map: Hall | undefined
  readonly states: Uint8Array
  readonly goods: readonly Goods[]
  readonly add: (line: BasketLine) => void
}

const BEST = 'best'

function Adding({ map, states, goods, add }: AddingProps) {
  const hasSeats = map !== undefined && map.seats.length > 0
  const what = useSignal(hasSeats ? BEST : '0')
  const isBest = what.value === BEST
  const categories = [...new Set(map?.seats.map(({ category }) => category))].sort()
  const sections = map?.sections.filter(({ seats }) => seats.length > 0) ?? []
  const submit = async (form: FormData) => {
    const quantity = Number(form.get('quantity'))
    const [section_id, category] = [textIn(form, 'section'), textIn(form, 'category')]
    const chosen = goods[Number(what.value)]
    if (isBest && map)
      add(
        bestLine(map, states, {
          ...(section_id !== '' && { section_id }),
          ...(category !== '' && { category }),
          quantity,
          together: form.get('together') === 'on',
          accessible: form.get('accessible') === 'on',
        }),
      )
    else if (chosen) add(goodsLine(chosen, quantity))
    return undefined
  }
  const { onSubmit, error } = useSubmit(submit)
  if (!hasSeats && goods.length === 0) return null
  return (
    <Section title="Add">
      <form class="seat-fields" onSubmit={onSubmit}>
        <label class="label">
          What
          <span class="field">
            <select value={what.value} onChange={(event) => (what.value = event.currentTarget.value)}>
              {hasSeats && <option value={BEST}>Best seats available</option>}
              {goods.map(({ name }, i) => (
                <option key={i} value={String(i)}>
                  {name}
                </option>
              ))}
            </select>
          </span>
        </label>
        <label class="label">
          How many
          <span class="field">
            <input type="number" name="quantity" min="1" max="1000" required defaultValue="2" />
          </span>
        </label>
        {isBest && (
          <>
            <Any name="section" label="Section" options={sections.map((one) => [one.id, one.name] as const)} />
            <Any name="category" label="Category" options={categories.map((one) => [one, one] as const)} />
            <label class="check">
              <input type="checkbox" name="together" defaultChecked /> Side by side
            </label>
            <label class="check">
              <input type="checkbox" name="accessible" /> With a wheelchair place
            </label>
          </>
        )}
        <button type="submit" class="btn">
          <Icon name="plus" />
          Add
        </button>
        <Failure error={error} />
      </form>
    </Section>
  )
}

function Any({
  name,
  label,
  options,
}: {
  name: string
  label: string
  options: readonly (readonly [string, string])[]
}) {
  return (
    <label class="label">
      {label}
      <span class="field">
        <select name={name}>
          <option value="">Any</option>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </span>
    </label>
  )
}

function Sold({ order: { order_id, total_minor, currency, lines } }: { order: SoldOrder }) {
  return (
    <section class="verdict is-good" aria-label="Sold">
      <p class="say">
        <Icon name="check" />
        <b>Sold for {money('en', total_minor, currency)}</b>
        <Link class="btn" href={`/console/orders/${order_id}`}>
          See order {order_id.slice(0, 8)}
        </Link>
      </p>
      <ul>
        {lines.map(({ line, name, row, number, quantity }) => (
          <li key={line}>{row === undefined ? `${quantity} × ${name}` : `${name}, row ${row}, seat ${number}`}</li>
        ))}
      </ul>
    </section>
  )
}
