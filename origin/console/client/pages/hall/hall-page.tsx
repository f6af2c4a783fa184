/**
 * The hall of a sale while it fills: its map, the actions for chosen seats, the figures of its sections, and the seats
 * that are off sale.
 */
import './hall.css'
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { useSearch } from 'wouter-preact'
import { money } from '../../../../../shared/format.ts'
import type { Hall } from '../../../../../shared/hall/hall-model.ts'
import { count, instant } from '../../format.ts'
import { Failure, Loading } from '../../parts.tsx'
import { StockMeter } from '../../sheet/marks.tsx'
import { Section } from '../../sheet/page.tsx'
import { Move } from './chosen/move-seat.tsx'
import { SeatStory } from './chosen/seat-story.tsx'
import { Tray } from './chosen/tray.tsx'
import type { HallState } from './hall-api.ts'
import { HallHead, NoSections } from './hall-head.tsx'
import { HallMap } from './hall-map.tsx'
import { SeatFields } from './seat-fields.tsx'
import { useHall } from './use-hall.ts'

export function HallPage({ sale }: { sale: string }) {
  const { hall, map, states, error } = useHall(sale)
  return (
    <>
      <HallHead sale={sale} end="" />
      {error && (
        <div class="sec">
          <Failure error={error} />
        </div>
      )}
      {!hall && !error && <Loading />}
      {hall?.sections.length === 0 && <NoSections sale={sale} />}
      {hall && map && states && map.seats.length > 0 ? (
        <Seats sale={sale} hall={hall} map={map} states={states} />
      ) : (
        hall && hall.sections.length > 0 && <Sections sections={hall.sections} />
      )}
    </>
  )
}

interface SeatsProps {
  readonly sale: string
  readonly hall: HallState
  readonly map: Hall
  readonly states: Uint8Array
}

/** A seat's name in all charts of its hall. */
const nameOf = ({ seats }: Hall, index: number) => `${seats[index]?.section.id} ${seats[index]?.seat_id}`

function Seats({ sale, hall, map, states }: SeatsProps) {
  const chosen = useSignal<ReadonlySet<number>>(new Set())
  // A new chart, after an import or a change of prices, keeps the seats that it still has.
  const before = useRef(map)
  if (before.current !== map) {
    const names = [...chosen.value].map((index) => nameOf(before.current, index))
    const indexes = new Map(map.seats.map((_, index) => [nameOf(map, index), index]))
    chosen.value = new Set(names.flatMap((name) => indexes.get(name) ?? []))
    before.current = map
  }
  const params = new URLSearchParams(useSearch())
  const [order, line] = [params.get('move'), Number(params.get('line'))]
  const choose = (seats: ReadonlySet<number>) => {
    // A moved order gets one seat: the last one chosen.
    const added = [...seats].filter((seat) => !chosen.value.has(seat))
    chosen.value = order === null ? seats : new Set(added.slice(-1))
  }
  const off = hall.sections.reduce((seats, section) => seats + section.blocked, 0)
  const currency = hall.sections[0]?.currency ?? 'EUR'
  const common = { sale, map, states, chosen: chosen.value }
  const [only] = chosen.value
  const seat = chosen.value.size === 1 ? map.seats[only ?? -1] : undefined
  return (
    <>
      {order !== null && <Move {...common} order={order} line={line} />}
      <div class="form hall-form">
        <div class="main">
          <section class="sec" aria-label="Map">
            <HallMap {...common} currency={currency} onChoose={choose} />
          </section>
          <Sections sections={hall.sections} />
          <OffSale blocks={hall.blocks} off={off} map={map} onShow={choose} />
        </div>
        <div class="beside">
          {chosen.value.size > 0 && order === null && (
            <Tray {...common} currency={currency} onClear={() => choose(new Set())} />
          )}
          <section class="sec" aria-label="Choose by name">
            <h2>Choose by name</h2>
            <SeatFields map={map} onAdd={(seats) => choose(new Set([...chosen.value, ...seats]))} />
          </section>
          {seat && order === null && <SeatStory key={seat.index} sale={sale} seat={seat} currency={currency} />}
        </div>
      </div>
    </>
  )
}

type SectionRow =
  | HallState['sections'][number]
  | (Omit<HallState['sections'][number], 'type'> & { readonly type: null })

/** The counts of each section, and their sum: sold + held + free + blocked = total. */
function Sections({ sections }: Pick<HallState, 'sections'>) {
  const sum = (of: (section: HallState['sections'][number]) => number) =>
    sections.reduce((units, section) => units + of(section), 0)
  const all: SectionRow = {
    section_id: '',
    name: 'All',
    type: null,
    sold: sum(({ sold }) => sold),
    held: sum(({ held }) => held),
    available: sum(({ available }) => available),
    blocked: sum(({ blocked }) => blocked),
    total: sum(({ total }) => total),
    price_minor: 0,
    currency: '',
  }
  const figures = ({ sold, held, available, blocked, total }: SectionRow) => [sold, held, available, blocked, total]
  return (
    <Section title="Sections">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <section class="scroll" aria-label="Sections, a table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Section</th>
              <th scope="col" class="n wide">
                Price
              </th>
              <th scope="col" class="wide">
                <span class="unseen">Share</span>
              </th>
              {['Sold', 'Held', 'Free', 'Blocked', 'Total'].map((name) => (
                <th key={name} scope="col" class="n">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(sections.length > 1 ? [...sections, all] : sections).map((row) => (
              <tr key={row.section_id}>
                <th scope="row">
                  {row.name}
                  {row.type === 'general_admission' && <small class="quiet plain"> standing</small>}
                </th>
                <td class="n wide">{row.currency !== '' && money('en', row.price_minor, row.currency)}</td>
                <td class="wide">
                  {row.type !== null && <StockMeter total={row.total} sold={row.sold} held={row.held} />}
                </td>
                {figures(row).map((units, i) => (
                  <td key={i} class="n">
                    {row.type === null ? <b>{count(units)}</b> : count(units)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Section>
  )
}

interface OffSaleProps extends Pick<HallState, 'blocks'> {
  /** The number of all seats that are off sale; the origin lists some hundreds, the latest ones. */
  readonly off: number
  readonly map: Hall
  readonly onShow: (seats: ReadonlySet<number>) => void
}

/** Lists the seats that are off sale by operator, reason and time. */
function OffSale({ blocks, off, map, onShow }: OffSaleProps) {
  const indexes = useMemo(() => new Map(map.seats.map((_, index) => [nameOf(map, index), index])), [map])
  const groups = [
    ...Map.groupBy(blocks, ({ reason, operator, until }) => JSON.stringify([reason, operator, until])).values(),
  ]
    .map((group) => group.toSorted((a, b) => b.since.localeCompare(a.since)))
    .sort((a, b) => (b[0]?.since ?? '').localeCompare(a[0]?.since ?? ''))
  if (groups.length === 0) return null
  return (
    <Section
      title="Off sale"
      aside={<span class="small quiet">{off === 1 ? '1 seat' : `${count(off)} seats`}, by who and why</span>}
    >
      <table>
        <tbody>
          {groups.map((group) => {
            const { reason = '', operator = null, since = '', until = null } = group[0] ?? {}
            const seats = group.flatMap(({ section_id, seat_id }) => indexes.get(`${section_id} ${seat_id}`) ?? [])
            const by = operator === null ? '' : ` by ${operator}`
            return (
              <tr key={`${reason} ${operator} ${until}`}>
                <th scope="row">
                  {reason}
                  <br />
                  <small class="quiet plain">
                    {until === null ? `blocked${by}, ${instant(since)}` : `held back${by} until ${instant(until)}`}
                  </small>
                </th>
                <td class="n">
                  <button type="button" class="btn" onClick={() => onShow(new Set(seats))}>
                    Choose {count(group.length)}
                    <span class="unseen">
                      {' '}
                      {group.length === 1 ? 'seat' : 'seats'} off sale: {reason}
                    </span>
                  </button>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {off > blocks.length && <p class="quiet small">and {count(off - blocks.length)} seats before these</p>}
    </Section>
  )
}
