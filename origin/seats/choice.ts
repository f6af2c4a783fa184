/**
 * Which seats a buyer gets. Pure and deterministic: the same chart, free seats and wish give the same seats in each
 * process.
 *
 * The order of "best available", as published. The first step that finds seats decides:
 *
 *   (a) neighbours of one row that strand no single seat, nearest to the focal point;
 *   (b) neighbours of one row, nearest to the focal point;
 *   (c) the fewest groups with nobody alone (each of two or more) within one section: the section that needs the fewest
 *       groups, of those the nearest. Without `section` each section is tried, with it only that one;
 *   (d) the fewest groups with nobody alone over all sections, if no section was asked for;
 *   (e) as few people alone as possible.
 *
 * How near a group is: the mean squared distance of its seats. For evenly spaced seats that is the order of the
 * distances of the groups' centres. In (c), (d) and (e) groups are as equal as the fewest groups allow; the first is
 * nearest to the focal point, and each other group or single seat nearest to the first. Each prefers to strand
 * nobody.
 *
 * `together: true` takes the steps (a) to (e): null means that fewer matching seats are free than were asked for.
 * `together: false` takes the nearest seats, each by itself; if they strand a single seat, one after another each the
 * nearest that strands none, where there is one; if that strands as many, the nearest after all. Null means the same.
 *
 * `category`, `section` and `kind` restrict each step. Kinds: a seat of restricted view comes after all other seats
 * of its ring (see `chart.ts`). Accessible and companion seats are kept: without `accessible` they are given only if
 * fewer other seats than asked for are free, and then as few as the step allows.
 *
 * `accessible: true` wants one accessible seat, and the others of the party beside it, whatever `together` says: (a)
 * and (b) among neighbours with an accessible seat, with as few further accessible seats and then as many companion
 * seats as possible, then the nearest. Otherwise the largest group with an accessible seat that leaves nobody of the
 * party alone, the others as near to it as (d) finds; otherwise the largest such group, the others as in (e). Null
 * means that no accessible seat is free, or fewer matching seats (of any kind) than were asked for.
 */
import { ANY, type Chart, KIND, known, ORDINARY, type Point, type Pool, type Seat } from './chart.ts'
import type { Free } from './free.ts'
import { type Aim, aimAt, bestGroup, centreOf, Draft, focalAim, type Orphans, Runs } from './neighbour-search.ts'

export { Free } from './free.ts'

export interface Wish {
  readonly section?: string | undefined
  readonly category?: string | undefined
  /** A positive whole number. */
  readonly quantity: number
  readonly together: boolean
  readonly accessible: boolean
  /** If it is missing, companion and accessible seats come after the others. */
  readonly kind?: Seat['kind'] | undefined
}

/**
 * The best seats for a wish, group by group; null if there are none. `free` is as before: whoever gives the seats
 * takes them.
 */
export function choose(chart: Chart, free: Free, wish: Wish): readonly Seat[] | null {
  if (!Number.isSafeInteger(wish.quantity) || wish.quantity < 1)
    throw new RangeError(`not a quantity: ${wish.quantity}`)
  const draft = new Draft(chart, free)
  try {
    const seated = wish.accessible ? seatAccessible(draft, wish) : seatOrdinary(draft, wish)
    return seated ? draft.seats() : null
  } finally {
    draft.undo(0)
  }
}

function seatOrdinary(draft: Draft, wish: Wish): boolean {
  for (const kinds of wish.kind === undefined ? [ORDINARY, ANY] : [KIND[wish.kind]]) {
    const pool = draft.chart.pool(wish.section, wish.category, kinds)
    if (!pool || draft.free.count(pool) < wish.quantity) continue
    const aim = aimFor(draft, kinds, wish.quantity, null)
    return wish.together ? seatTogether(draft, wish, kinds, pool, aim) : seatApart(draft, pool, wish.quantity, aim)
  }
  return false
}

function seatTogether(draft: Draft, wish: Wish, kinds: number, pool: Pool, aim: Aim): boolean {
  const { quantity, section, category } = wish
  if (draft.takeBest(pool, quantity, aim, 'avoid')) return true
  const again = (point: Point) => aimFor(draft, kinds, quantity, point)
  // Two or three who sit in groups sit in one, and there is none.
  if (section === undefined && quantity > 3) {
    const sectionPool = fewestGroupsSection(draft, category, kinds, quantity)
    if (sectionPool && seatGroups(draft, sectionPool, quantity, aim, again)) return true
  }
  return seatScattered(draft, pool, quantity, aim, again)
}

/** The section that seats a party in the fewest groups with nobody alone, of several the nearest; null if none does. */
function fewestGroupsSection(draft: Draft, category: string | undefined, kinds: number, people: number): Pool | null {
  let best: Pool | null = null
  let fewest = Infinity
  for (const section of draft.chart.sections) {
    const pool = draft.chart.pool(section, category, kinds)
    if (!pool || draft.free.count(pool) < people) continue
    const groups = new Runs(draft.chart, draft.free, pool, people).fewest(people)
    if (groups < fewest) {
      fewest = groups
      best = pool
    }
  }
  return best
}

/**
 * Seats people in the fewest groups with nobody alone; false if that is impossible. The first group has the aim
 * given, the others the aim made of its middle.
 */
function seatGroups(draft: Draft, pool: Pool, people: number, first: Aim, again: (point: Point) => Aim): boolean {
  const runs = new Runs(draft.chart, draft.free, pool, people)
  const mark = draft.positions.length
  let aim = first
  let rest = people
  for (let groups = runs.fewest(people); rest > 0; groups--) {
    const size = groups === Infinity ? 0 : seatGroup(draft, pool, runs, rest, groups, aim)
    if (size === 0) {
      draft.undo(mark)
      return false
    }
    if (rest === people) aim = again(draft.centre(mark))
    rest -= size
  }
  return true
}

/**
 * Seats the next of so many groups, no larger than it must be for the rest to fit in the others. Returns its size; 0:
 * none fits.
 */
function seatGroup(draft: Draft, pool: Pool, runs: Runs, rest: number, groups: number, aim: Aim): number {
  const { chart, free, positions } = draft
  for (let size = Math.ceil(rest / groups); size <= rest; size++) {
    const first = bestGroup(chart, free, pool, size, aim, 'avoid')
    if (first < 0) return 0
    const stretch = known(chart.stretchOf[first])
    runs.count(stretch, -1)
    draft.take(first, size)
    runs.count(stretch, 1)
    if (runs.fewest(rest - size) < groups) return size
    runs.count(stretch, -1)
    draft.undo(positions.length - size)
    runs.count(stretch, 1)
  }
  return 0
}

/**
 * Steps (d) and (e): the fewest groups; if somebody must sit alone, as few as possible. Only for a pool with enough
 * free seats.
 */
function seatScattered(draft: Draft, pool: Pool, people: number, first: Aim, again: (point: Point) => Aim): boolean {
  const mark = draft.positions.length
  let inGroups = people === 1 ? 0 : people
  if (inGroups > 0) {
    const runs = new Runs(draft.chart, draft.free, pool, people)
    while (inGroups > 0 && runs.fewest(inGroups) === Infinity) inGroups--
  }
  if (inGroups > 0 && !seatGroups(draft, pool, inGroups, first, again)) return false
  let aim = first
  for (let alone = people - inGroups; alone > 0; alone--) {
    if (aim === first && draft.positions.length > mark) aim = again(draft.centre(mark))
    if (!draft.takeBest(pool, 1, aim, 'avoid')) return false
  }
  return true
}

/** `together: false`: the nearest, unless another choice strands fewer seats. */
function seatApart(draft: Draft, pool: Pool, people: number, aim: Aim): boolean {
  if (people === 1) return draft.takeBest(pool, 1, aim, 'avoid')
  const nearest = takeSingles(draft, pool, people, aim, 'tie')
  const strandedByNearest = stranded(draft.chart, draft.free, nearest).length
  if (strandedByNearest > 0) {
    const careful = takeSingles(draft, pool, people, aim, 'avoid')
    if (stranded(draft.chart, draft.free, careful).length < strandedByNearest) return takeSeats(draft, careful)
  }
  return takeSeats(draft, nearest)
}

/** The seats that searches for one seat each give; none of them stays set aside. */
function takeSingles(draft: Draft, pool: Pool, people: number, aim: Aim, orphans: Orphans): Seat[] {
  for (let n = 0; n < people; n++) draft.takeBest(pool, 1, aim, orphans)
  const seats = draft.seats()
  draft.undo(0)
  return seats
}

function takeSeats(draft: Draft, seats: readonly Seat[]): true {
  for (const { index } of seats) draft.take(draft.chart.position(index), 1)
  return true
}

function seatAccessible(draft: Draft, wish: Wish): boolean {
  const { chart, free } = draft
  const { section, category, quantity } = wish
  const accessible = chart.pool(section, category, KIND.accessible)
  const all = chart.pool(section, category, ANY)
  if (!accessible || !all || free.count(accessible) === 0 || free.count(all) < quantity) return false
  const beside = { ...all, stretches: accessible.stretches }
  const aim = accessibleAim(draft, quantity)
  if (draft.takeBest(beside, quantity, aim, 'avoid')) return true
  const again = (point: Point) => aimFor(draft, ANY, quantity, point)
  for (const nobodyAlone of [true, false])
    for (let size = quantity - 1; size >= (nobodyAlone ? 2 : 1); size--) {
      if (!draft.takeBest(beside, size, aim, 'avoid')) continue
      const rest = quantity - size
      const point = draft.centre(0)
      const ordinary = chart.pool(section, category, ORDINARY)
      const pool = ordinary && free.count(ordinary) >= rest ? ordinary : all
      const seat = nobodyAlone ? seatGroups : seatScattered
      if (seat(draft, pool, rest, again(point), () => again(point))) return true
      draft.undo(0)
    }
  return false
}

/** Groups with an accessible seat: as few further ones as possible, then as many companion seats, then the nearest. */
function accessibleAim({ chart, free }: Draft, people: number): Aim {
  const ordinary = chart.far * people
  const aim = aimAt(chart, free, null, {
    standard: ordinary,
    restricted_view: ordinary,
    accessible: ordinary * (people + 1),
  })
  const accepts = (first: number, size: number) => chart.kindOf.subarray(first, first + size).includes(KIND.accessible)
  return { ...aim, accepts }
}

/** Nearest to a point (null: the focal point); of kept seats, if they are in the pool, as few as possible. */
function aimFor({ chart, free }: Draft, kinds: number, people: number, point: Point | null): Aim {
  if (kinds === ORDINARY) return point ? aimAt(chart, free, point) : focalAim(chart, free)
  const companion = chart.far * people
  return aimAt(chart, free, point, { companion, accessible: companion * (people + 1) })
}

/**
 * The nearest free seats of the same kind (category and seat kind) as these, as many, as near as possible to where
 * they were: what is offered to someone whose seats are taken. If the wanted seats were neighbours, so are these if
 * there are such; otherwise they sit in the fewest groups near the wanted ones. If they were not, each that is still
 * free is offered again and the others replaced one by one. Null if fewer are free.
 */
export function nearest(chart: Chart, free: Free, wanted: readonly Seat[]): readonly Seat[] | null {
  const draft = new Draft(chart, free)
  try {
    const offered = areNeighbours(chart, wanted) ? offerGroup(draft, wanted) : offerEach(draft, wanted)
    return offered ? draft.seats() : null
  } finally {
    draft.undo(0)
  }
}

function offerGroup(draft: Draft, wanted: readonly Seat[]): boolean {
  const { chart, free } = draft
  const centre = centreOf(wanted)
  const aim = aimAt(chart, free, centre)
  const kinds = [...Map.groupBy(wanted, kindKey).values()]
  const pools = kinds.map((seats) => ({ pool: poolLike(chart, seats[0] as Seat), people: seats.length }))
  if (pools.some(({ pool, people }) => !pool || free.count(pool) < people)) return false
  const key = groupKey(wanted)
  const accepts = (first: number, size: number) => groupKey(chart.seats.slice(first, first + size)) === key
  const pool = kinds.length === 1 ? pools[0]?.pool : chart.pool(undefined, undefined, ANY)
  if (pool && draft.takeBest(pool, wanted.length, kinds.length === 1 ? aim : { ...aim, accepts }, 'tie')) return true
  return pools.every(({ pool, people }) => pool && seatScattered(draft, pool, people, aim, () => aim))
}

function offerEach(draft: Draft, wanted: readonly Seat[]): boolean {
  const { chart, free } = draft
  const gone: Seat[] = []
  for (const seat of wanted) {
    if (free.isFree(seat)) draft.take(chart.position(seat.index), 1)
    else gone.push(seat)
  }
  return gone.every((seat) => {
    const pool = poolLike(chart, seat)
    return pool && draft.takeBest(pool, 1, aimAt(chart, free, seat), 'tie')
  })
}

function poolLike(chart: Chart, { category, kind }: Seat): Pool | null {
  return chart.pool(undefined, category, KIND[kind])
}

function kindKey({ category, kind }: Seat): string {
  return `${kind} ${category}`
}

function groupKey(seats: readonly Seat[]): string {
  return JSON.stringify(seats.map(kindKey).sort())
}

function areNeighbours(chart: Chart, seats: readonly Seat[]): boolean {
  const positions = seats.map(({ index }) => chart.position(index)).sort((a, b) => a - b)
  const [first = -1] = positions
  if (first < 0) return false
  return positions.every(
    (position, i) => position === first + i && chart.stretchOf[position] === chart.stretchOf[first],
  )
}

/**
 * The single seats that taking these would leave: free seats between taken ones, row ends or aisles that had a free
 * neighbour before. Seats of the choice that are taken already change nothing.
 */
export function stranded(chart: Chart, free: Free, chosen: readonly Seat[]): readonly Seat[] {
  const now = new Set<number>()
  for (const { index } of chosen) {
    const position = chart.position(index)
    if (free.open[position] === 1) now.add(position)
  }
  const staysFree = (position: number, stretch: number | undefined) =>
    chart.stretchOf[position] === stretch && free.open[position] === 1 && !now.has(position)
  const singles = new Set<number>()
  for (const taken of now) {
    const stretch = chart.stretchOf[taken]
    for (const beside of [taken - 1, taken + 1])
      if (staysFree(beside, stretch) && !staysFree(beside - 1, stretch) && !staysFree(beside + 1, stretch))
        singles.add(beside)
  }
  return [...singles].sort((a, b) => a - b).map((position) => chart.seats[position] as Seat)
}
