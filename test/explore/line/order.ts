/** Draws an order of events of a line: a small sale, those who act in it, and what happens to its machines. */
import { seededRandom } from '../../../shared/lib/random.ts'
import { SALE } from './shop.ts'

/** What is given for a whole order. */
export interface Setting {
  readonly shards: number
  readonly isolates: number
  readonly stock: number
  readonly ratePerSecond: number
  readonly opensInMs: number
  readonly claimSeconds: number
}

/** What somebody does, or what happens, at a moment. */
export type Actor = { readonly atMs: number } & (
  | { readonly act: 'joins'; readonly visitor: string; readonly isolate: number }
  | { readonly act: 'leaves'; readonly visitor: string; readonly isolate: number }
  | { readonly act: 'pauses' | 'is away'; readonly forMs: number }
  | { readonly act: 'restocks'; readonly units: number }
  | { readonly act: 'is evicted'; readonly object: string }
  | { readonly act: 'ends'; readonly isolate: number }
  | { readonly act: 'changes its clock'; readonly machine: string; readonly byMs: number }
)

/** Visitors come within so long, and the last eviction is after so long. */
const COME_WITHIN_MS = 3_000
const LAST_EVICTION_MS = 6_000
/** Visitors whose names begin so are known: they pay once, and get the same number whenever they come. */
const KNOWN = 'known'

export interface LineOrder {
  readonly setting: Setting
  readonly actors: readonly Actor[]
}

/** Draws a sale and those who act in it. */
export function drawOrder(seed: number): LineOrder {
  const random = seededRandom(seed ^ 0x1f83d9ab)
  const upTo = (count: number) => Math.floor(random() * count)
  const oneOf = <T>(list: readonly T[]) => list[upTo(list.length)] as T
  const setting: Setting = {
    shards: oneOf([1, 1, 2, 2, 3, 25]),
    isolates: oneOf([1, 2, 2, 3]),
    stock: oneOf([1, 2, 3, 5, 50]),
    ratePerSecond: oneOf([2, 10, 50]),
    opensInMs: oneOf([-1_000, -1_000, 1_000, 2_000]),
    claimSeconds: oneOf([3, 60, 60]),
  }
  const at = () => upTo(COME_WITHIN_MS)
  const isolate = () => upTo(setting.isolates)
  const actors: Actor[] = []
  const joins = 3 + upTo(12)
  for (let i = 0; i < joins; i++) {
    const visitor = random() < 0.5 ? `${KNOWN} ${upTo(5)}` : `visitor ${i}`
    actors.push({ act: 'joins', atMs: at(), visitor, isolate: isolate() })
  }
  // A crowd comes at once, through few isolates, and others come behind it.
  const rushMs = at()
  const crowd = random() < 0.5 ? upTo(16) : 0
  for (let i = 0; i < crowd; i++) {
    const atMs = rushMs + upTo(i % 4 === 0 ? 1_500 : 60)
    actors.push({ act: 'joins', atMs, visitor: `visitor ${joins + i}`, isolate: i % 5 === 0 ? isolate() : 0 })
  }
  if (random() < 0.3)
    actors.push({ act: 'leaves', atMs: 1_000 + at(), visitor: `${KNOWN} ${upTo(5)}`, isolate: isolate() })
  if (random() < 0.3) actors.push({ act: 'pauses', atMs: at(), forMs: 200 + upTo(2_000) })
  if (random() < 0.2) actors.push({ act: 'is away', atMs: at(), forMs: 500 + upTo(3_000) })
  if (random() < 0.3) actors.push({ act: 'restocks', atMs: 1_000 + at(), units: 1 + upTo(3) })
  const objects = [SALE, SALE, ...Array.from({ length: Math.min(3, setting.shards) }, (_, i) => shardOf(i, setting))]
  for (let i = upTo(4); i > 0; i--)
    actors.push({ act: 'is evicted', atMs: upTo(LAST_EVICTION_MS), object: oneOf(objects) })
  if (random() < 0.3) actors.push({ act: 'ends', atMs: at(), isolate: isolate() })
  const machines = ['the room', 'shard 0', 'shard 1', 'isolate 0', 'isolate 1']
  for (let i = upTo(3); i > 0; i--) {
    const byMs = oneOf([-5_000, -300, -40, 15, 200, 3_000])
    actors.push({ act: 'changes its clock', atMs: oneOf([0, at()]), machine: oneOf(machines), byMs })
  }
  return { setting, actors: actors.toSorted((a, b) => a.atMs - b.atMs) }
}

const shardOf = (index: number, { shards }: Setting) =>
  shards > 24 ? `${SALE}/hub-${index % Math.ceil(shards / 50)}/${index}` : `${SALE}/${index}`

/** The actor's name, and a sentence about what they do. */
export function sentenceOf(actor: Actor): { readonly name: string; readonly what: string } {
  const { act } = actor
  switch (act) {
    case 'joins':
    case 'leaves':
      return { name: actor.visitor, what: `${act} through isolate ${actor.isolate}` }
    case 'pauses':
      return { name: 'an operator', what: `pauses the sale for ${actor.forMs} ms` }
    case 'restocks':
      return { name: 'an operator', what: `adds ${actor.units} units` }
    case 'is evicted':
      return { name: actor.object, what: act }
    case 'ends':
      return { name: `isolate ${actor.isolate}`, what: act }
    case 'changes its clock': {
      const way = actor.byMs < 0 ? 'back' : 'forward'
      return { name: actor.machine, what: `has its clock put ${way} by ${Math.abs(actor.byMs)} ms` }
    }
    default:
      return { name: 'the origin', what: `is away for ${actor.forMs} ms` }
  }
}
