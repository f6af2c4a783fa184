/** What operators do with chosen seats, with its undo. Each call takes seats of one section. */
import type { Hall } from '../../../../../../shared/hall/hall-model.ts'
import { count, instant } from '../../../format.ts'
import type { Done } from '../../../toast.tsx'
import { setBlocked, setPrices } from '../hall-api.ts'
import { bySection } from '../seats.ts'

/** One call changes at most this many seats. */
const MAX_CHANGED = 5_000

export const units = (seats: number) => `${count(seats)} ${seats === 1 ? 'seat' : 'seats'}`
const are = (seats: number) => (seats === 1 ? 'is' : 'are')

export interface Chosen {
  readonly sale: string
  readonly map: Hall
  readonly seats: readonly number[]
}

/**
 * Calls once for each section and each allowed number of seats. If a call is refused, the earlier ones have taken
 * effect, and the map shows it.
 */
async function each({ map, seats }: Chosen, call: (section: string, ids: readonly string[]) => Promise<unknown>) {
  for (const [section, ids] of bySection(map, seats))
    for (let i = 0; i < ids.length; i += MAX_CHANGED) await call(section, ids.slice(i, i + MAX_CHANGED))
}

/** Takes seats out of sale: for nobody, or until a time for somebody. */
export async function block(chosen: Chosen, reason: string, until?: string): Promise<Done> {
  const { sale, seats } = chosen
  await each(chosen, (section, ids) => setBlocked(sale, section, ids, { reason, until, isBlock: true }))
  const text =
    until === undefined
      ? `${units(seats.length)} ${are(seats.length)} blocked: ${reason}.`
      : `${units(seats.length)} ${are(seats.length)} held back until ${instant(until)}: ${reason}.`
  return { text, undo: () => release(chosen, 'undone') }
}

export async function release(chosen: Chosen, reason: string): Promise<Done> {
  const { sale, seats } = chosen
  await each(chosen, (section, ids) => setBlocked(sale, section, ids, { reason, isBlock: false }))
  return { text: `${units(seats.length)} ${are(seats.length)} for sale.` }
}

/** The undo sets what each seat had before. */
export async function price(chosen: Chosen, to: Parameters<typeof setPrices>[3]): Promise<Done> {
  const { sale, map, seats } = chosen
  let [changed, unchanged] = [0, 0]
  await each(chosen, async (section, ids) => {
    const answer = await setPrices(sale, section, ids, to)
    changed += answer.changed
    unchanged += answer.unchanged
  })
  const before = Map.groupBy(seats, (index) => {
    const seat = map.seats[index]
    return JSON.stringify({
      ...(to.price_minor !== undefined && { price_minor: seat?.price_minor }),
      ...(to.category !== undefined && { category: seat?.category }),
    })
  })
  const undo = async (): Promise<Done> => {
    for (const [was, group] of before)
      await each({ sale, map, seats: group }, (section, ids) => setPrices(sale, section, ids, JSON.parse(was)))
    return { text: `${units(changed)} ${are(changed)} as before.` }
  }
  const rest = unchanged > 0 ? ` ${units(unchanged)} ${are(unchanged)} as before.` : ''
  return { text: `${units(changed)} ${are(changed)} changed.${rest}`, undo }
}
