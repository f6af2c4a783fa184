/**
 * The hall of a sale while it fills: its map, the actions for chosen seats, the figures of its sections, and the
 * blocked seats.
 */
import './hall.css'
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useSearch } from 'wouter-preact'
import { money } from '../../../../../shared/format.ts'
import type { Hall } from '../../../../../shared/hall/hall-model.ts'
import { count, Failure, instant, Loading, TableHead } from '../../parts.tsx'
import type { HallState } from './hall-api.ts'
import { HallHead, NoSections } from './hall-head.tsx'
import { HallMap } from './hall-map.tsx'
import { SeatFields } from './seat-fields.tsx'
import { Move, Selection } from './selection.tsx'
import { useHall } from './use-hall.ts'

export function HallPage({ sale }: { sale: string }) {
  const { hall, map, states, error } = useHall(sale)
  return (
    <>
      <HallHead sale={sale} end="" />
      <Failure error={error} />
      {!hall && !error && <Loading />}
      {hall?.sections.length === 0 && <NoSections sale={sale} />}
      {hall && map && states && map.seats.length > 0 && (
        <Seats key={map.version} sale={sale} hall={hall} map={map} states={states} />
      )}
      {hall && hall.sections.length > 0 && <Sections sections={hall.sections} />}
    </>
  )
}

function Seats({ sale, hall, map, states }: { sale: string; hall: HallState; map: Hall; states: Uint8Array }) {
  const chosen = useSignal<ReadonlySet<number>>(new Set())
  const params = new URLSearchParams(useSearch())
  const [order, line] = [params.get('move'), Number(params.get('line'))]
  const choose = (seats: ReadonlySet<number>) => {
    // A moved order gets one seat: the last one chosen.
    const added = [...seats].filter((seat) => !chosen.value.has(seat))
    chosen.value = order === null ? seats : new Set(added.slice(-1))
  }
  const blocked = hall.sections.reduce((seats, section) => seats + section.blocked, 0)
  const common = { sale, map, states, chosen: chosen.value }
  return (
    <>
      {order !== null && <Move {...common} order={order} line={line} />}
      <div class="hall-columns">
        <section class="sec" aria-label="Map">
          <HallMap {...common} currency={hall.sections[0]?.currency ?? 'EUR'} onChoose={choose} />
        </section>
        <div class="hall-side">
          {chosen.value.size > 0 && order === null && <Selection {...common} onClear={() => choose(new Set())} />}
          <section class="sec" aria-label="Choose by name">
            <h2>Choose by name</h2>
            <SeatFields map={map} onAdd={(seats) => choose(new Set([...chosen.value, ...seats]))} />
          </section>
        </div>
      </div>
      <Blocks blocks={hall.blocks} blocked={blocked} map={map} onShow={choose} />
    </>
  )
}

function Sections({ sections }: Pick<HallState, 'sections'>) {
  const sum = (of: (section: HallState['sections'][number]) => number) =>
    sections.reduce((units, section) => units + of(section), 0)
  const rows: readonly Omit<HallState['sections'][number], 'type'>[] =
    sections.length > 1
      ? [
          ...sections,
          {
            section_id: '',
            name: 'All',
            sold: sum(({ sold }) => sold),
            held: sum(({ held }) => held),
            available: sum(({ available }) => available),
            blocked: sum(({ blocked }) => blocked),
            total: sum(({ total }) => total),
            price_minor: 0,
            currency: '',
          },
        ]
      : sections
  return (
    <section class="sec hall-sections" aria-label="Sections">
      <table>
        <TableHead columns={['Section', 'Sold', 'Held', 'Free', 'Blocked', 'Total']} />
        <tbody>
          {rows.map(({ section_id, name, sold, held, available, blocked, total, price_minor, currency }) => (
            <tr key={section_id} class={section_id === '' ? 'all' : ''}>
              <th scope="row">
                {name} {currency !== '' && <small class="quiet">{money('en', price_minor, currency)}</small>}
                <span class="units" role="img" aria-label={`${Math.round((100 * sold) / (total || 1))} % sold`}>
                  <i class="sold" style={`width: ${(100 * sold) / (total || 1)}%`} />
                  <i class="held" style={`width: ${(100 * held) / (total || 1)}%`} />
                </span>
              </th>
              {[sold, held, available, blocked, total].map((units, i) => (
                <td key={i} class="number">
                  {count(units)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The origin lists at most some hundreds of blocks, the latest ones. */
interface BlocksProps extends Pick<HallState, 'blocks'> {
  /** The number of all blocked seats. */
  readonly blocked: number
  readonly map: Hall
  readonly onShow: (seats: ReadonlySet<number>) => void
}

/** Lists the blocked seats by operator and reason. */
function Blocks({ blocks, blocked, map, onShow }: BlocksProps) {
  const indexes = useMemo(
    () => new Map(map.seats.map(({ section, seat_id }, index) => [`${section.id} ${seat_id}`, index])),
    [map],
  )
  const groups = [...Map.groupBy(blocks, ({ reason, operator }) => JSON.stringify([reason, operator])).values()]
    .map((group) => group.toSorted((a, b) => b.since.localeCompare(a.since)))
    .sort((a, b) => (b[0]?.since ?? '').localeCompare(a[0]?.since ?? ''))
  if (groups.length === 0) return null
  return (
    <section class="sec" aria-label="Blocked seats">
      <h2>Blocked</h2>
      <ul class="hall-blocks">
        {groups.map((group) => {
          const { reason = '', operator = null, since = '' } = group[0] ?? {}
          const seats = group.flatMap(({ section_id, seat_id }) => indexes.get(`${section_id} ${seat_id}`) ?? [])
          return (
            <li key={`${reason} ${operator}`}>
              <span>
                <b>{reason}</b>{' '}
                <span class="quiet">
                  {operator !== null && `by ${operator}, `}
                  {instant(since)}
                </span>
              </span>
              <button type="button" onClick={() => onShow(new Set(seats))}>
                Choose {count(group.length)} {group.length === 1 ? 'seat' : 'seats'}
                <span class="unseen"> blocked: {reason}</span>
              </button>
            </li>
          )
        })}
        {blocked > blocks.length && <li class="quiet">and {count(blocked - blocks.length)} seats before these</li>}
      </ul>
    </section>
  )
}
