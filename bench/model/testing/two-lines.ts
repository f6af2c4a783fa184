/**
 * Simulates two lines of one sale on a virtual clock: the real controllers of two rooms, each of which calls the
 * origin about once a second, and the origin's real division of the rate between them.
 */
import { nextSchedule } from '../../../edge/queue/pace/controller.ts'
import { comingIn, EMPTY_MEMORY, type Memory, observe, ranMs } from '../../../edge/queue/pace/memory.ts'
import { ANNOUNCE_MS, announce, inEffect, latest, type Timeline } from '../../../edge/queue/timeline.ts'
import { beforeOpening, SETTINGS, stateOf } from '../../../edge/testing/simulation.ts'
import { divide, type Notes } from '../../../origin/queue/lines.ts'
import { servingExactly } from '../../../shared/schedule.ts'
import { seeded } from '../../lib/random.ts'

export const TICK_MS = 50
export const ADMISSIONS_PER_UNIT = SETTINGS.admissionsPerUnit
const LINES = [
  { line: 'members', weight: 3 },
  { line: 'public', weight: 1 },
]

interface TwoLines {
  readonly seed: number
  readonly rate: number
  readonly stock: number
  readonly maxInside: number | null
  readonly seconds: number
  /** The number of visitors who have joined each line by a second. */
  readonly crowd: (second: number) => readonly [members: number, others: number]
}

export interface Moment {
  readonly second: number
  readonly called: readonly number[]
  readonly onTheirWay: number
  readonly available: number
  readonly held: number
}

export function playLines({ seed, rate, stock, maxInside, seconds, crowd }: TwoLines): Moment[] {
  const random = seeded(seed)
  const opensAtMs = beforeOpening(rate).anchor_at_ms
  const rooms = LINES.map(({ line }) => ({
    line,
    memory: { ...EMPTY_MEMORY, polled_at_ms: opensAtMs, reached_at_ms: opensAtMs } as Memory,
    timeline: [{ from_ms: opensAtMs, schedule: beforeOpening(rate) }] as Timeline,
    asksAtMs: random() * 1_000,
    called: 0,
    arrivals: 0,
  }))
  let notes: Notes = {}
  let [available, held, onTheirWay] = [stock, 0, 0]
  const due = new Map<number, (() => void)[]>()
  const later = (ms: number, act: () => void) => {
    const tick = Math.ceil(ms / TICK_MS)
    due.set(tick, [...(due.get(tick) ?? []), act])
  }
  const moments: Moment[] = []
  for (let ms = 0; ms < seconds * 1000; ms += TICK_MS) {
    for (const act of due.get(ms / TICK_MS) ?? []) act()
    const nowMs = opensAtMs + ms
    for (const [i, room] of rooms.entries()) {
      const highestNumber = crowd(ms / 1000)[i] ?? 0
      if (ms >= room.asksAtMs) {
        room.asksAtMs = ms + 800 + random() * 400
        const { coming_units: units, coming_people: inside } = comingIn(room.memory, room.called, SETTINGS)
        const divided = divide(notes, {
          line: room.line,
          report: { waiting: highestNumber - room.called, coming: { units, inside } },
          lines: LINES,
          whole: { rate, units: available, inside: Math.max(0, (maxInside ?? held) - held) },
          nowMs,
        })
        notes = divided.notes
        const { given } = divided
        const own = { rate: given.rate, maxInside: maxInside === null ? null : held + given.inside }
        const counts = { available, held, sold: stock - available - held, arrivals: room.arrivals }
        const state = { ...stateOf(own, counts), share: available === 0 ? 0 : given.units / available }
        const schedule = inEffect(room.timeline, nowMs)
        const ran = ranMs(room.timeline, room.memory.polled_at_ms, nowMs)
        room.memory = observe(room.memory, { nowMs, state, schedule, highestNumber, ranMs: ran }, SETTINGS)
        const moment = { nowMs, fromMs: nowMs + ANNOUNCE_MS, preQueueOpensAtMs: 0, opensAtMs, endsAtMs: null }
        const previous = latest(room.timeline).schedule
        const draw = { size: 0, seed: '00', beacon: null }
        const next = nextSchedule({ ...moment, previous, state, memory: room.memory, highestNumber, draw }, SETTINGS)
        if (next !== previous)
          room.timeline = announce(room.timeline, { from_ms: moment.fromMs, schedule: next }, nowMs)
      }
      const schedule = inEffect(room.timeline, nowMs)
      const serving = schedule.draw_seed === null ? 0 : Math.min(highestNumber, servingExactly(schedule, nowMs))
      for (; room.called + 1 <= serving + 1e-6; room.called++) {
        onTheirWay++
        later(ms + TICK_MS + random() * 2_000, () => {
          onTheirWay--
          room.arrivals++
          if (available === 0) return
          available--
          held++
          later(ms + 3_000 + random() * 10_000, () => void held--)
        })
      }
    }
    moments.push({ second: ms / 1000, called: rooms.map(({ called }) => called), onTheirWay, available, held })
  }
  return moments
}
