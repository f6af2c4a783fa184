/**
 * Simulates two lines of one sale on a virtual clock: the real controllers of two rooms, each of which calls the
 * origin about once a second, and the origin's real division of the rate between them.
 */
import { comingIn } from '../../../edge/queue/pace/memory.ts'
import { Agenda, SimulatedRoom } from '../../../edge/testing/simulated-room.ts'
import { SETTINGS, stateOf } from '../../../edge/testing/simulation.ts'
import { divide, type Notes } from '../../../origin/queue/lines.ts'
import { seededRandom } from '../../../shared/lib/random.ts'

export const TICK_MS = 50
export const ADMISSIONS_PER_UNIT = SETTINGS.admissionsPerUnit
const BEGINNING_MS = 1_000_000
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
  const random = seededRandom(seed)
  const rooms = LINES.map(({ line }) => ({
    line,
    queue: new SimulatedRoom(stateOf({ rate, maxInside }, { available: stock }), BEGINNING_MS, SETTINGS, 1),
    asksAtMs: random() * 1_000,
    called: 0,
    arrivals: 0,
  }))
  let notes: Notes = {}
  let [available, held, onTheirWay] = [stock, 0, 0]
  const agenda = new Agenda(TICK_MS)
  const moments: Moment[] = []
  for (let ms = 0; ms < seconds * 1000; ms += TICK_MS) {
    agenda.run(ms)
    const nowMs = BEGINNING_MS + ms
    for (const [i, room] of rooms.entries()) {
      const highestNumber = crowd(ms / 1000)[i] ?? 0
      if (ms >= room.asksAtMs) {
        room.asksAtMs = ms + 800 + random() * 400
        const { coming_units: units, coming_people: inside } = comingIn(room.queue.memory, room.called, SETTINGS)
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
        room.queue.refresh(state, nowMs, highestNumber)
      }
      const serving = Math.min(highestNumber, room.queue.serving(nowMs))
      for (; room.called + 1 <= serving + 1e-6; room.called++) {
        onTheirWay++
        agenda.at(ms + TICK_MS + random() * 2_000, () => {
          onTheirWay--
          room.arrivals++
          if (available === 0) return
          available--
          held++
          agenda.at(ms + 3_000 + random() * 10_000, () => void held--)
        })
      }
    }
    moments.push({ second: ms / 1000, called: rooms.map(({ called }) => called), onTheirWay, available, held })
  }
  return moments
}
