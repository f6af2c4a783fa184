/**
 * The searches that a choice of seats is made of: the best group of free neighbours (`bestGroup`), the fewest groups
 * that seat a party (`Runs`), and the seats set aside while a choice is being made (`Draft`). A run is free
 * neighbours that a search may choose from.
 */
import { type Chart, KIND, KINDS, known, type Point, type Pool, type Seat, type Stretch } from './chart.ts'
import type { Free } from './free.ts'

/** What makes one group better than another: the lower sum of its seats' costs. */
export interface Aim {
  /** Each free seat of the stretch costs at least this much. */
  bound(stretch: number): number
  /** `sums[n]`: the costs of the stretch's first n seats. Valid until the next call. */
  sums(stretch: number): Float64Array
  /** Returns true if a group may be chosen; if absent, each group may. */
  readonly accepts?: ((first: number, size: number) => boolean) | undefined
  /**
   * Where costs are measured from. `hall`: the focal point, without surcharges; each stretch's best groups are
   * remembered.
   */
  readonly from: 'hall' | 'focal point' | 'point'
}

/** What a seat of each kind costs beyond its distance. */
export type Surcharges = Partial<Record<Seat['kind'], number>>

/** Nearest to the focal point: the aim of most searches. */
export function focalAim(chart: Chart, free: Free): Aim {
  return {
    bound: (stretch) => known(free.least[stretch]),
    sums: (stretch) => (chart.stretches[stretch] as Stretch).sums,
    from: 'hall',
  }
}

/** Nearest to a point (null: to the focal point), where seats of some kinds cost more. */
export function aimAt(chart: Chart, free: Free, point: Point | null, surcharges: Surcharges = {}): Aim {
  const { xs, ys, kindOf, boxes } = chart
  const byKind = new Float64Array(KIND.accessible + 1)
  for (const kind of KINDS) {
    // A kind that is not named costs nothing more.
    const { [kind]: surcharge = 0 } = surcharges
    byKind[KIND[kind]] = surcharge
  }
  const { x, y } = point ?? chart.focalPoint
  const sums = new Float64Array(chart.longestStretch + 1)
  return {
    bound: (number) => {
      if (!point) return known(free.least[number])
      const dx = Math.max(known(boxes[4 * number]) - x, 0, x - known(boxes[4 * number + 1]))
      const dy = Math.max(known(boxes[4 * number + 2]) - y, 0, y - known(boxes[4 * number + 3]))
      return dx * dx + dy * dy
    },
    sums: (number) => {
      const { start, end } = chart.stretches[number] as Stretch
      let sum = 0
      for (let position = start; position < end; position++) {
        const dx = known(xs[position]) - x
        const dy = known(ys[position]) - y
        sum += dx * dx + dy * dy + known(chart.surcharge[position]) + known(byKind[known(kindOf[position])])
        sums[position - start + 1] = sum
      }
      return sums
    },
    from: point ? 'point' : 'focal point',
  }
}

/**
 * `avoid`: a group that strands a single seat is only chosen if every group does. `tie`: nearness comes first, and of
 * equally near groups of a stretch the one that strands none is chosen.
 */
export type Orphans = 'avoid' | 'tie'

interface Found {
  /** First position of the best group, and the sum of its costs. */
  first: number
  sum: number
  /** The same among groups that strand no single seat. */
  cleanFirst: number
  cleanSum: number
}

/**
 * First position of the best free group of `size` neighbours of a pool; -1 if there is none. Ties: the first in the
 * chart's order.
 */
export function bestGroup(chart: Chart, free: Free, pool: Pool, size: number, aim: Aim, orphans: Orphans): number {
  const found: Found = { first: -1, sum: Infinity, cleanFirst: -1, cleanSum: Infinity }
  if (aim.from === 'hall') searchRemembered(chart, free, pool, size, aim, orphans, found)
  else searchAll(chart, free, pool, size, aim, orphans, found)
  const clean = found.cleanFirst >= 0 && (orphans === 'avoid' || found.cleanSum === found.sum)
  return clean ? found.cleanFirst : found.first
}

function searchAll(chart: Chart, free: Free, pool: Pool, size: number, aim: Aim, orphans: Orphans, found: Found): void {
  // Away from the focal point the order of the stretches says nothing: the likeliest one first, so that most others
  // are skipped.
  const likeliest = aim.from === 'point' ? leastBound(free, pool, size, aim) : -1
  if (likeliest >= 0) searchStretch(chart, free, pool, size, aim, likeliest, found)
  const { stretches } = pool
  for (let i = 0; i < stretches.length; i++) {
    const stretch = known(stretches[i])
    const beaten = orphans === 'avoid' ? found.cleanSum : found.sum
    if (aim.from !== 'point' && known(chart.nearest[stretch]) * size >= beaten) break
    if (known(free.longest[stretch]) < size || stretch === likeliest) continue
    if (aim.bound(stretch) * size < beaten) searchStretch(chart, free, pool, size, aim, stretch, found)
  }
}

function leastBound(free: Free, pool: Pool, size: number, aim: Aim): number {
  let likeliest = -1
  let least = Infinity
  for (const stretch of pool.stretches) {
    if (known(free.longest[stretch]) < size) continue
    const bound = aim.bound(stretch)
    if (bound >= least) continue
    least = bound
    likeliest = stretch
  }
  return likeliest
}

/**
 * Finds the same as `searchAll`, but reads only the stretches that changed since the last search of the same kind.
 */
function searchRemembered(
  chart: Chart,
  free: Free,
  pool: Pool,
  size: number,
  aim: Aim,
  orphans: Orphans,
  found: Found,
): void {
  const { stretches, first, sum, cleanFirst, cleanSum, change } = free.bestGroups(pool, size)
  for (let i = 0; i < stretches.length; i++) {
    const stretch = known(stretches[i])
    const beaten = orphans === 'avoid' ? found.cleanSum : found.sum
    if (known(chart.nearest[stretch]) * size >= beaten) break
    if (known(free.longest[stretch]) < size) continue
    if (change[i] !== free.changes[stretch]) {
      if (known(free.least[stretch]) * size >= beaten) continue
      const own: Found = { first: -1, sum: Infinity, cleanFirst: -1, cleanSum: Infinity }
      searchStretch(chart, free, pool, size, aim, stretch, own)
      first[i] = own.first
      sum[i] = own.sum
      cleanFirst[i] = own.cleanFirst
      cleanSum[i] = own.cleanSum
      change[i] = known(free.changes[stretch])
    }
    const stretchSum = known(sum[i])
    if (stretchSum < found.sum) {
      found.sum = stretchSum
      found.first = known(first[i])
    }
    const stretchCleanSum = known(cleanSum[i])
    if (stretchCleanSum < found.cleanSum) {
      found.cleanSum = stretchCleanSum
      found.cleanFirst = known(cleanFirst[i])
    }
  }
}

function searchStretch(
  chart: Chart,
  free: Free,
  pool: Pool,
  size: number,
  aim: Aim,
  number: number,
  found: Found,
): void {
  const { start, end } = chart.stretches[number] as Stretch
  const { open } = free
  const { allowed } = pool
  const { cellOf } = chart
  const sums = aim.sums(number)
  for (let at = start; at < end; at++) {
    if (open[at] !== 1) continue
    const freeFrom = at
    while (at < end && open[at] === 1) at++
    // Free seats freeFrom .. at - 1. A seat of another pool ends a run, but it is company for a seat beside it.
    let runFrom = freeFrom
    for (let last = freeFrom; last < at; last++) {
      if (allowed[known(cellOf[last])] !== 1) {
        runFrom = last + 1
        continue
      }
      const first = last - size + 1
      if (first < runFrom) continue
      const sum = known(sums[last + 1 - start]) - known(sums[first - start])
      if (sum >= found.cleanSum && sum >= found.sum) continue
      if (aim.accepts && !aim.accepts(first, size)) continue
      if (sum < found.sum) {
        found.sum = sum
        found.first = first
      }
      if (sum < found.cleanSum && first - freeFrom !== 1 && at - last !== 2) {
        found.cleanSum = sum
        found.cleanFirst = first
      }
    }
  }
}

/** How many runs of each length a pool has: whether, and in how few groups, a party can sit with nobody alone. */
export class Runs {
  readonly #chart: Chart
  readonly #free: Free
  readonly #pool: Pool
  /**
   * The number of groups by length. A group longer than the party counts with the party's length; single seats do not
   * count.
   */
  readonly #counts: Int32Array

  constructor(chart: Chart, free: Free, pool: Pool, people: number) {
    this.#chart = chart
    this.#free = free
    this.#pool = pool
    this.#counts = new Int32Array(people + 1)
    for (const stretch of pool.stretches) if (known(free.longest[stretch]) >= 2) this.count(stretch, 1)
  }

  /** Adds the runs of a stretch (1), or takes them away (-1) before the stretch changes. */
  count(number: number, sign: 1 | -1): void {
    const { start, end } = this.#chart.stretches[number] as Stretch
    const longest = this.#counts.length - 1
    let length = 0
    for (let position = start; position <= end; position++) {
      const inRun =
        position < end &&
        this.#free.open[position] === 1 &&
        this.#pool.allowed[known(this.#chart.cellOf[position])] === 1
      if (inRun) {
        length++
        continue
      }
      const capped = Math.min(length, longest)
      if (capped >= 2) this.#counts[capped] = known(this.#counts[capped]) + sign
      length = 0
    }
  }

  /**
   * The fewest groups of two and more that seat so many people; Infinity if somebody must sit alone. The longest runs
   * give the fewest groups. If one person is left over, a group of three or more gives one of its own to make a pair;
   * an odd party is therefore lost only where no run has three seats.
   */
  fewest(people: number): number {
    if (people === 0) return 0
    let groups = 0
    let rest = people
    let hasThree = false
    for (let length = this.#counts.length - 1; length >= 2 && rest > 0; length--) {
      const count = known(this.#counts[length])
      if (count === 0) continue
      if (length >= 3) hasThree = true
      const used = Math.min(count, Math.ceil(rest / length))
      groups += used
      rest -= used * length
    }
    return rest > 0 || people === 1 || (people % 2 === 1 && !hasThree) ? Infinity : groups
  }
}

/** Seats set aside in `Free` while a choice is being made. Whoever makes one undoes it. */
export class Draft {
  readonly chart: Chart
  readonly free: Free
  readonly positions: number[] = []

  constructor(chart: Chart, free: Free) {
    this.chart = chart
    this.free = free
  }

  /** Sets the best group aside; false if there is none. */
  takeBest(pool: Pool, size: number, aim: Aim, orphans: Orphans): boolean {
    const first = bestGroup(this.chart, this.free, pool, size, aim, orphans)
    if (first >= 0) this.take(first, size)
    return first >= 0
  }

  take(first: number, size: number): void {
    this.free.setRun(first, size, 0)
    for (let position = first; position < first + size; position++) this.positions.push(position)
  }

  /** Puts back all but the first `length` seats. */
  undo(length: number): void {
    for (const position of this.positions.splice(length)) this.free.setRun(position, 1, 1)
  }

  seats(): Seat[] {
    return this.positions.map((position) => this.chart.seats[position] as Seat)
  }

  /** The middle of the seats from the `from`th on. */
  centre(from: number): Point {
    return centreOf(this.seats().slice(from))
  }
}

export function centreOf(points: readonly Point[]): Point {
  let x = 0
  let y = 0
  for (const point of points) {
    x += point.x
    y += point.y
  }
  return { x: x / points.length, y: y / points.length }
}
