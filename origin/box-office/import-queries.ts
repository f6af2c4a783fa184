/**
 * The seats of a section, imported as a whole or not at all. They are compared in the ledger with those that are
 * there: a seat that stays keeps its place in the bitmap of taken seats, and one that somebody has never vanishes.
 */
import type { ChartSeat } from '../../shared/api/hall.ts'
import { MAX_SEATS, type SeatImport } from '../../shared/api/operators/hall-admin.ts'
import { chargeIssue } from '../../shared/api/stripe-amount.ts'
import { invalidField, ProblemError } from '../../shared/problem.ts'
import { audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { lockRunningSale, publishPhase } from '../sales/sale-queries.ts'
import { conflict, keepIndexes, lockSections, nextVersion, type SectionRow, unknownSection } from './section-queries.ts'

/** Seats named in an answer; more are counted. */
const MAX_NAMED = 100
/** Seats in one statement: to write out their arrays holds up this process's buyers for a tenth of a second. */
const CHUNK = 10_000

interface Imported {
  readonly saleId: string
  readonly sectionId: string
  readonly seats: readonly ChartSeat[]
  /** Seats that lines name, also those of wrong ones. */
  readonly named: readonly string[]
}

/** The seats that a sentence is about: at most `MAX_NAMED`, and how many there are. */
interface NamedSeats {
  readonly seats: readonly string[]
  readonly count: number
}

/** What an import would do, and which seats that somebody has it would lose. Changes nothing. */
export function previewSeats(sql: Sql, imported: Imported): Promise<SeatImport & { loss: NamedSeats }> {
  return sql.begin(async (tx) => {
    await stage(tx, imported)
    const [section] = await tx<Pick<SectionRow, 'section_type'>[]>`
      select section_type from products where sale_id = ${imported.saleId} and product_id = ${imported.sectionId}`
    requireReserved(section, imported)
    return { ...(await compare(tx, imported)), loss: await lossOf(tx, imported) }
  })
}

/**
 * Throws, and changes nothing, if a seat would vanish that an order has or an operator blocks; or if the row, number or
 * category of a seat of an order would change, which a ticket may show, unless that `isConfirmed`.
 */
export function importSeats(sql: Sql, imported: Imported, operator: string, isConfirmed: boolean): Promise<SeatImport> {
  const { saleId, sectionId, seats } = imported
  return sql.begin(async (tx) => {
    // This runs before the locks are taken, because buyers wait for the locks.
    await stage(tx, imported)
    const section = await lockReserved(tx, imported)
    requirePayable(seats, section)
    const loss = await lossOf(tx, imported)
    if (loss.count > 0)
      throw conflict(`${loss.count} seats would vanish that are sold, held or blocked: ${loss.seats.join(', ')}.`, {
        seats: loss.seats,
        seat_count: loss.count,
      })
    const difference = await compare(tx, imported)
    const { reprinted, reprinted_count } = difference
    if (reprinted_count > 0 && !isConfirmed)
      throw conflict(
        `${reprinted_count} seats of orders would get another row, number or category: ${reprinted.join(', ')}. ` +
          'Tell their buyers, and send the list with ?confirm=true.',
        { reprinted, reprinted_count },
      )
    const isSame = difference.added + difference.changed + difference.removed === 0
    if (!isSame) await replace(tx, imported, section)
    const after = { total: seats.length, ...difference }
    const before = { total: section.total }
    await audit(tx, [{ actor: operator, action: 'seats imported', sale: saleId, product: sectionId, before, after }])
    return difference
  })
}

/** The seats of the import as a table of the transaction. */
async function stage(tx: Queryable, { seats, named }: Imported): Promise<void> {
  await tx`
    create temporary table imported (seat_id text primary key, line int, row text, number text, place int,
      x float8, y float8,
      category text, kind text, price_minor bigint) on commit drop`
  for (let from = 0; from < seats.length; from += CHUNK) {
    const chunk = seats.slice(from, from + CHUNK)
    const column = <K extends keyof ChartSeat>(key: K) => chunk.map((seat) => seat[key])
    await tx`
      insert into imported (line, seat_id, row, number, place, x, y, category, kind, price_minor)
      select ${from}::int + n, seat_id, row, number, place, x, y, category, kind, price_minor
      from unnest(${column('seat_id')}::text[], ${column('row')}::text[], ${column('number')}::text[],
        ${column('place')}::int[], ${column('x')}::float8[], ${column('y')}::float8[], ${column('category')}::text[],
        ${column('kind')}::text[], ${column('price_minor')}::bigint[])
        with ordinality as u(seat_id, row, number, place, x, y, category, kind, price_minor, n)`
  }
  // In a preview, the seats of wrong lines count as named: they are neither imported nor removed.
  const others = named.length > seats.length ? named : []
  await tx`
    insert into imported (seat_id) select unnest(${others as string[]}::text[]) on conflict do nothing`
  await tx`analyze imported`
}

async function lockReserved(tx: Queryable, { saleId, sectionId }: Imported): Promise<SectionRow> {
  await lockRunningSale(tx, saleId)
  const [section] = await lockSections(tx, saleId, [sectionId])
  return requireReserved(section, { sectionId })
}

function requireReserved<Row extends Pick<SectionRow, 'section_type'>>(
  section: Row | undefined,
  { sectionId }: Pick<Imported, 'sectionId'>,
): Row {
  if (!section?.section_type) throw unknownSection()
  if (section.section_type !== 'reserved') throw conflict(`${sectionId} is a standing section, which has no seats.`)
  return section
}

/** Each seat may be all of an order. */
function requirePayable(
  seats: readonly Pick<ChartSeat, 'seat_id' | 'price_minor'>[],
  { currency }: Pick<SectionRow, 'currency'>,
): void {
  for (const { seat_id, price_minor } of seats) {
    const issue = chargeIssue(price_minor, currency)
    if (issue) throw new ProblemError(invalidField('price_minor', `of ${seat_id} ${issue}`))
  }
}

const isGone = (tx: Queryable) => tx`not exists (select from imported n where n.seat_id = s.seat_id)`
const differs = (tx: Queryable) => tx`
  (s.row, s.number, s.place, s.x, s.y, s.category, s.kind, s.price_minor)
    is distinct from (n.row, n.number, n.place, n.x, n.y, n.category, n.kind, n.price_minor)`

async function compare(tx: Queryable, imported: Imported): Promise<SeatImport> {
  const { saleId, sectionId } = imported
  const { seats: reprinted, count: reprinted_count } = await reprintsOf(tx, imported)
  const [row] = await tx<[Omit<SeatImport, 'reprinted' | 'reprinted_count'>]>`
    select count(*) filter (where s.seat_id is null)::int as added,
      count(*) filter (where s.seat_id is not null and ${differs(tx)})::int as changed, (
      select count(*)::int from seats s where sale_id = ${saleId} and section_id = ${sectionId}
        and ${isGone(tx)}) as removed,
      count(*) filter (where s.seat_id is not null and not ${differs(tx)})::int as unchanged
    from imported n left join seats s on s.sale_id = ${saleId} and s.section_id = ${sectionId} and s.seat_id = n.seat_id
    where n.line is not null`
  return { ...row, reprinted, reprinted_count }
}

/** The seats of orders that the list prints otherwise than they were sold. */
async function reprintsOf(tx: Queryable, { saleId, sectionId }: Imported): Promise<NamedSeats> {
  const [row] = await tx<[{ seats: string[] | null; count: number }]>`
    select (array_agg(s.seat_id order by s.seat_index))[1:${MAX_NAMED}::int] as seats, count(*)::int as count
    from seats s join seat_claims c on (c.sale_id, c.seat_index) = (s.sale_id, s.seat_index)
      join imported n on n.seat_id = s.seat_id and n.line is not null
    where s.sale_id = ${saleId} and s.section_id = ${sectionId} and c.order_id is not null
      and (s.row, s.number, s.category) is distinct from (n.row, n.number, n.category)`
  return { seats: row.seats ?? [], count: row.count }
}

async function lossOf(tx: Queryable, { saleId, sectionId }: Imported): Promise<NamedSeats> {
  const [row] = await tx<[{ seats: string[] | null; count: number }]>`
    select (array_agg(s.seat_id order by s.seat_index))[1:${MAX_NAMED}::int] as seats, count(*)::int as count
    from seats s join seat_claims c on (c.sale_id, c.seat_index) = (s.sale_id, s.seat_index)
    where s.sale_id = ${saleId} and s.section_id = ${sectionId} and ${isGone(tx)}`
  return { seats: row.seats ?? [], count: row.count }
}

async function replace(tx: Queryable, { saleId, sectionId, seats }: Imported, section: SectionRow): Promise<void> {
  const [others] = await tx<[{ count: number }]>`
    select count(*)::int as count from seats where sale_id = ${saleId} and section_id <> ${sectionId}`
  if (others.count + seats.length > MAX_SEATS)
    throw new ProblemError(
      invalidField('body', `a sale has at most ${MAX_SEATS} seats, and others have ${others.count}`),
    )
  const { held, sold, buffer } = section
  if (seats.length < held + sold + buffer)
    throw conflict(
      `${sectionId}: ${held} seats are held, ${sold} sold and ${buffer} blocked, more than ${seats.length}.`,
    )
  await nextVersion(tx, saleId)
  await keepIndexes(tx, saleId)
  await tx`delete from seats s where sale_id = ${saleId} and section_id = ${sectionId} and ${isGone(tx)}`
  for (let from = 0; from < seats.length; from += CHUNK) {
    await tx`
      update seats s set row = n.row, number = n.number, place = n.place, x = n.x, y = n.y, category = n.category,
        kind = n.kind, price_minor = n.price_minor
      from imported n
      where n.line > ${from} and n.line <= ${from + CHUNK}
        and s.sale_id = ${saleId} and s.section_id = ${sectionId} and s.seat_id = n.seat_id and ${differs(tx)}`
    await tx`
      insert into seats (sale_id, seat_index, section_id, seat_id, row, number, place, x, y, category, kind,
        price_minor)
      select ${saleId}, c.next_seat_index + row_number() over (order by n.line) - 1, ${sectionId}, n.seat_id, n.row,
        n.number, n.place, n.x, n.y, n.category, n.kind, n.price_minor
      from imported n join charts c on c.sale_id = ${saleId}
      where n.line > ${from} and n.line <= ${from + CHUNK} and not exists (
        select from seats s where s.sale_id = ${saleId} and s.section_id = ${sectionId} and s.seat_id = n.seat_id)`
    await keepIndexes(tx, saleId)
  }
  await tx`
    update products set total = ${seats.length} where sale_id = ${saleId} and product_id = ${sectionId}`
  // Unless an operator has set it: the top centre of all seats.
  await tx`
    update charts c set focal_x = s.x, focal_y = s.y
    from (select (min(x) + max(x)) / 2 as x, min(y) as y from seats where sale_id = ${saleId}) s
    where c.sale_id = ${saleId} and not c.focal_chosen and s.x is not null`
  await publishPhase(tx, saleId)
}
