/**
 * What each line of a sale gets of its rate, of the room inside and of the units that are left. Pure functions.
 *
 * The parts follow the weights of the lines in which somebody waits, and what one of them does not need goes to the
 * others. Lines ask in turns, about once a second. So a part that grows waits until another one has shrunk: what a
 * line was given counts as taken until it has received less. The parts together never exceed the whole.
 */
import type { Line } from '../../shared/api/access.ts'

/** Per second; units; people. */
export interface Parts {
  readonly rate: number
  readonly units: number
  readonly inside: number
}
const PARTS = ['rate', 'units', 'inside'] as const

/** What a line reports of itself. */
export interface LineReport {
  /** People who wait for their turn; 0 before the line opens. */
  readonly waiting: number
  /** The called visitors who may still come. */
  readonly coming: Pick<Parts, 'units' | 'inside'>
}

interface Note extends LineReport {
  readonly at_ms: number
  readonly given: Parts
  /** The most that the line may make use of until it asks again. */
  readonly held: Parts
}

/** The latest of each line. */
export type Notes = Readonly<Record<string, Note>>

/** A queue that has not polled for this time does not count as waiting. */
const WAITS_FOR_MS = 10_000
/** The visitors that a silent queue has called have come by this time, or will find what is left by then. */
const HELD_FOR_MS = 60_000
/** How often the part that cannot be divided goes to the next line. */
const TURN_MS = 10_000

interface Asking {
  readonly line: string
  readonly report: LineReport
  /** The lines that are open, with the one that asks. */
  readonly lines: readonly Pick<Line, 'line' | 'weight'>[]
  readonly whole: Parts
  readonly nowMs: number
}

/** What the line that asks gets now, and the notes after it. */
export function divide(notes: Notes, { line, report, lines, whole, nowMs }: Asking): { given: Parts; notes: Notes } {
  const recent = Object.entries(notes).filter(([, { at_ms }]) => Math.abs(nowMs - at_ms) < HELD_FOR_MS)
  const others = recent.filter(([name]) => name !== line).map(([, note]) => note)
  const before = recent.find(([name]) => name === line)?.[1]
  const isWaiting = ({ at_ms }: Note) => Math.abs(nowMs - at_ms) < WAITS_FOR_MS
  const counts = (note: Note | undefined, of: keyof Parts) => note && (of !== 'rate' || isWaiting(note))
  const waits = new Map(recent.map(([name, note]) => [name, isWaiting(note) ? note.waiting : 0]))
  waits.set(line, report.waiting)
  const parties = lines.map((one) => ({ weight: one.weight, demand: waits.get(one.line) ?? 0 }))
  const index = lines.findIndex((one) => one.line === line)
  const turn = Math.floor(nowMs / TURN_MS)

  const givenBefore = (of: keyof Parts) => (before && counts(before, of) ? before.given[of] : 0)
  const partOf = (of: keyof Parts): number => {
    const heldByOthers = sum(others, (note) => (counts(note, of) ? note.held[of] : 0))
    const own = comingOf(report, of)
    const out = own + sum(others, (note) => comingOf(note, of))
    const shares = sharesOf(Math.max(0, whole[of] - out), parties)
    const fair = own + ((of === 'rate' ? shares : inWholes(shares, turn))[index] ?? 0)
    return Math.max(0, Math.min(fair, Math.max(whole[of] - heldByOthers, givenBefore(of))))
  }
  const given = mapParts(partOf)
  const held = mapParts((of) => Math.max(given[of], givenBefore(of), comingOf(report, of)))
  return { given, notes: { ...Object.fromEntries(recent), [line]: { ...report, at_ms: nowMs, given, held } } }
}

/** Where nobody knows of the other lines: by weight alone, which never exceeds the whole either. */
export function byWeight(line: string, lines: readonly Pick<Line, 'line' | 'weight'>[], whole: Parts): Parts {
  const weight = lines.find((one) => one.line === line)?.weight ?? 0
  const share =
    weight /
    Math.max(
      weight,
      sum(lines, (party) => party.weight),
    )
  return mapParts((of) => (of === 'rate' ? whole.rate * share : Math.floor(whole[of] * share)))
}

interface Party {
  readonly weight: number
  /** The most that the line can use. */
  readonly demand: number
}

/**
 * The whole, divided by weight among the lines with a demand; no line gets more than its demand. What no line demands
 * is divided by weight among all, so that a newcomer is called at once.
 */
export function sharesOf(whole: number, parties: readonly Party[]): number[] {
  const shares = parties.map(() => 0)
  let left = whole
  let asking = parties.map((party, i) => ({ ...party, i })).filter(({ demand }) => demand > 0)
  while (asking.length > 0) {
    const perWeight = left / sum(asking, ({ weight }) => weight)
    const sated = asking.filter(({ weight, demand }) => demand <= weight * perWeight)
    if (sated.length === 0) {
      for (const { weight, i } of asking) shares[i] = weight * perWeight
      return shares
    }
    for (const { demand, i } of sated) shares[i] = demand
    left = Math.max(0, left - sum(sated, ({ demand }) => demand))
    asking = asking.filter((party) => !sated.includes(party))
  }
  const all = sum(parties, ({ weight }) => weight)
  return parties.map(({ weight }, i) => (shares[i] ?? 0) + (left * weight) / all)
}

/** Rounds shares to integers with the same sum: the remaining units go to one line after the other, by turns. */
export function inWholes(shares: readonly number[], turn: number): number[] {
  const wholes = shares.map((share) => Math.floor(share + EPSILON))
  let remaining = Math.round(sum(shares, (share) => share)) - sum(wholes, (whole) => whole)
  const first = turn % Math.max(1, shares.length)
  for (let step = 0; remaining > 0 && step < shares.length; step++) {
    const i = (first + step) % shares.length
    if ((shares[i] ?? 0) - (wholes[i] ?? 0) <= EPSILON) continue
    wholes[i] = (wholes[i] ?? 0) + 1
    remaining--
  }
  return wholes
}

const comingOf = ({ coming }: LineReport, of: keyof Parts) => (of === 'rate' ? 0 : coming[of])

/** Tolerance of floating point sums. */
const EPSILON = 1e-6

const mapParts = (part: (of: keyof Parts) => number) =>
  Object.fromEntries(PARTS.map((of) => [of, part(of)])) as unknown as Parts

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  let total = 0
  for (const item of items) total += of(item)
  return total
}
