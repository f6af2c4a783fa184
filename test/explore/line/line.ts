/**
 * One order of events of a line: a small sale with its room, shards, isolates and visitors, an origin that sells, and
 * what may disturb them. Who acts is drawn from the seed; what becomes of each call, the scheduler decides.
 */
import { HUB_LEASE_MS, LEASE_MS } from '../../../edge/queue/numbers/lease.ts'
import { settingsOf } from '../../../edge/testing/settings.ts'
import type { Decisions } from '../decisions.ts'
import { randomFrom } from '../decisions.ts'
import { BEGIN_MS, Scheduler, type Step } from '../scheduler.ts'
import { Cloud } from './cloud.ts'
import { Judge } from './judge.ts'
import type { Start } from './machine.ts'
import { SALE, Shop } from './shop.ts'
import { Visitors } from './visitors.ts'

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
  | { readonly act: 'pauses' | 'resumes' }
  | { readonly act: 'restocks'; readonly units: number }
  | { readonly act: 'is away' | 'is back' }
  | { readonly act: 'is evicted'; readonly object: string }
  | { readonly act: 'ends'; readonly isolate: number }
  | { readonly act: 'changes its clock'; readonly machine: string; readonly byMs: number }
)

const FIRST_JOINS_MS = 3_000
/** Nothing is disturbed from here on, and the order ends after so long. */
const CALM_AT_MS = 6_000
const ENDS_AT_MS = 9_000
/** How often each isolate is asked for the places of all visitors. */
const LOOK_MS = 200
/** Visitors whose names begin so are known: they pay once, and get the same number whenever they come. */
const KNOWN = 'known'

export interface LineOrder {
  readonly setting: Setting
  readonly actors: readonly Actor[]
}

/** Draws a sale and those who act in it. */
export function drawOrder(seed: number): LineOrder {
  const random = randomFrom(seed ^ 0x1f83d9ab)
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
  const at = () => upTo(FIRST_JOINS_MS)
  const isolate = () => upTo(setting.isolates)
  const actors: Actor[] = []
  const joins = 3 + upTo(12)
  for (let i = 0; i < joins; i++) {
    const visitor = random() < 0.5 ? `${KNOWN} ${upTo(5)}` : `visitor ${i}`
    actors.push({ act: 'joins', atMs: at(), visitor, isolate: isolate() })
  }
  // Some come together.
  const rush = at()
  for (let i = 0; i < upTo(6); i++)
    actors.push({ act: 'joins', atMs: rush + upTo(100), visitor: `visitor ${joins + i}`, isolate: isolate() })
  if (random() < 0.3)
    actors.push({ act: 'leaves', atMs: 1_000 + at(), visitor: `${KNOWN} ${upTo(5)}`, isolate: isolate() })
  if (random() < 0.3) {
    const atMs = at()
    actors.push({ act: 'pauses', atMs }, { act: 'resumes', atMs: atMs + 200 + upTo(2_000) })
  }
  if (random() < 0.2) {
    const atMs = at()
    actors.push({ act: 'is away', atMs }, { act: 'is back', atMs: atMs + 500 + upTo(3_000) })
  }
  if (random() < 0.3) actors.push({ act: 'restocks', atMs: 1_000 + at(), units: 1 + upTo(3) })
  const objects = [SALE, SALE, ...Array.from({ length: Math.min(3, setting.shards) }, (_, i) => shardOf(i, setting))]
  for (let i = upTo(4); i > 0; i--) actors.push({ act: 'is evicted', atMs: upTo(CALM_AT_MS), object: oneOf(objects) })
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

/** Who acts, in a sentence. */
export function sentenceOf(actor: Actor): string {
  const at = `After ${actor.atMs} ms`
  switch (actor.act) {
    case 'joins':
    case 'leaves':
      return `${at} ${actor.visitor} ${actor.act} through isolate ${actor.isolate}`
    case 'pauses':
    case 'resumes':
      return `${at} an operator ${actor.act} the sale`
    case 'restocks':
      return `${at} an operator adds ${actor.units} units`
    case 'is evicted':
      return `${at} ${actor.object} is evicted`
    case 'ends':
      return `${at} isolate ${actor.isolate} ends`
    case 'changes its clock':
      return `${at} the clock of ${actor.machine} is put ${actor.byMs < 0 ? 'back' : 'forward'} by ${Math.abs(actor.byMs)} ms`
    default:
      return `${at} the origin ${actor.act}`
  }
}

export interface Played {
  /** The promise that was broken; null if all were kept. */
  readonly broken: string | null
  readonly steps: readonly Step[]
}

/** Plays an order, and judges it. */
export async function play({ setting, actors }: LineOrder, decisions: Decisions, start: Start): Promise<Played> {
  const scheduler = new Scheduler(decisions)
  const { shards, claimSeconds, ratePerSecond } = setting
  const judge = new Judge({
    ratePerSecond: ratePerSecond * 2,
    admissionsPerUnit: 1.2,
    claimMs: claimSeconds * 1_000,
    orderMs: shards > 24 ? HUB_LEASE_MS : LEASE_MS,
  })
  const shop = new Shop(setting, () => scheduler.nowMs - BEGIN_MS, judge)
  const settings = {
    ...settingsOf('http://origin'),
    TICKET_SHARDS: String(shards),
    CLAIM_SECONDS: String(claimSeconds),
  }
  const cloud = new Cloud(scheduler, start, judge, (url) => shop.answer(url), settings)
  const visitors = new Visitors(cloud, shop, judge, setting)
  scheduler.onStep = async () => {
    if (judge.broken !== null) throw new Broken(judge.broken)
  }
  const { after } = cloud.world.runtime
  for (const actor of actors) after(actor.atMs, () => act(actor, cloud, shop, visitors, judge))
  for (let isolate = 0; isolate < setting.isolates; isolate++) visitors.lookEvery(isolate, LOOK_MS)
  after(CALM_AT_MS, () => {
    decisions.isCalm = true
  })
  after(ENDS_AT_MS, () => cloud.end())
  try {
    await scheduler.run()
    judge.end()
  } catch (error) {
    if (!(error instanceof Broken)) judge.failed(error as Error)
    cloud.end()
  }
  return { broken: judge.broken, steps: scheduler.steps }
}

class Broken extends Error {}

function act(actor: Actor, cloud: Cloud, shop: Shop, visitors: Visitors, judge: Judge): void {
  switch (actor.act) {
    case 'joins':
      visitors.join(actor.visitor, actor.isolate)
      break
    case 'leaves':
      visitors.leave(actor.visitor, actor.isolate)
      break
    case 'is evicted':
      cloud.object(actor.object).evict()
      break
    case 'ends':
      visitors.endIsolate(actor.isolate)
      break
    case 'changes its clock':
      cloud.clocks.set(actor.machine, (cloud.clocks.get(actor.machine) ?? 0) + actor.byMs)
      judge.putBackMs += Math.max(0, -actor.byMs)
      judge.clockMs += Math.abs(actor.byMs)
      break
    case 'restocks':
      shop.restock(actor.units)
      visitors.notify()
      break
    default:
      shop.change(actor.act)
      visitors.notify()
      break
  }
}
