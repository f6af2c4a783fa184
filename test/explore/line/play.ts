/** Plays an order of events of the line with the real classes, and judges it. */
import { settingsOf } from '../../../edge/testing/settings.ts'
import type { Decisions } from '../decisions.ts'
import { BEGIN_MS, Scheduler, type Step } from '../scheduler.ts'
import { Cloud } from './cloud.ts'
import { Judge } from './judge.ts'
import type { Start } from './machine.ts'
import { type Actor, type LineOrder, sentenceOf } from './order.ts'
import { Shop } from './shop.ts'
import { Visitors } from './visitors.ts'

/**
 * Disturbances end at the first moment, and the order at the second. Calls that were disturbed shortly before may be
 * retried still: while somebody asks for a number, the order goes on until the third.
 */
const CALM_AT_MS = 6_000
const ENDS_AT_MS = 9_000
const ENDS_AT_LATEST_MS = 15_000
const ASKS_AGAIN_MS = 500
/** How often each isolate is asked for the places of all visitors. */
const LOOK_MS = 200
/** How far two visitors can be out of their order, beside a round trip; twice as far where shards lease from hubs. */
const ORDER_MS = 250
const ADMISSIONS_PER_UNIT = 1.2
/** The queue runs at most so many times as fast as configured, to make up for no-shows. */
const NO_SHOW_BOOST = 2

export interface PlayedLine {
  /** The promise that was broken; null if all were kept. */
  readonly broken: string | null
  readonly steps: readonly Step[]
  /** How many of the steps came before all was left alone. */
  readonly acted: number
}

/** Plays an order, and judges it. */
export async function play({ setting, actors }: LineOrder, decisions: Decisions, start: Start): Promise<PlayedLine> {
  const scheduler = new Scheduler(decisions)
  const { shards, claimSeconds, ratePerSecond } = setting
  const judge = new Judge({
    ratePerSecond: ratePerSecond * NO_SHOW_BOOST,
    admissionsPerUnit: ADMISSIONS_PER_UNIT,
    claimMs: claimSeconds * 1_000,
    orderMs: shards > 24 ? 2 * ORDER_MS : ORDER_MS,
  })
  const shop = new Shop(setting, () => scheduler.nowMs - BEGIN_MS, judge)
  const settings = {
    ...settingsOf('http://origin'),
    TICKET_SHARDS: String(shards),
    CLAIM_SECONDS: String(claimSeconds),
    ADMISSIONS_PER_UNIT: String(ADMISSIONS_PER_UNIT),
    NO_SHOW_BOOST: String(NO_SHOW_BOOST),
  }
  const cloud = new Cloud(scheduler, start, judge, (url) => shop.answer(url), settings)
  const visitors = new Visitors(cloud, shop, judge, setting)
  scheduler.onStep = async () => {
    if (judge.broken !== null) throw new Broken(judge.broken)
  }
  const { after } = cloud.world.runtime
  const stage = { after, cloud, shop, visitors, judge }
  for (const actor of actors) {
    const { name, what } = sentenceOf(actor)
    after(actor.atMs, () => scheduler.actor(what, () => act(actor, stage), name))
  }
  for (let isolate = 0; isolate < setting.isolates; isolate++) visitors.lookEvery(isolate, LOOK_MS)
  let acted = Number.POSITIVE_INFINITY
  scheduler.onTime = async (nowMs) => {
    if (decisions.isCalm || nowMs - BEGIN_MS < CALM_AT_MS) return
    decisions.isCalm = true
    acted = scheduler.steps.length
  }
  after(CALM_AT_MS, () => {})
  const endOnceAnswered = () => {
    const isOver = visitors.asking().length === 0 || scheduler.nowMs - BEGIN_MS >= ENDS_AT_LATEST_MS
    if (isOver) cloud.end()
    else after(ASKS_AGAIN_MS, endOnceAnswered)
  }
  after(ENDS_AT_MS, endOnceAnswered)
  try {
    await scheduler.run()
    judge.end(visitors.asking())
  } catch (error) {
    if (!(error instanceof Broken)) judge.failed(error as Error)
    cloud.end()
  }
  return { broken: judge.broken, steps: scheduler.steps, acted: Math.min(acted, scheduler.steps.length) }
}

class Broken extends Error {}

interface Stage {
  readonly after: Cloud['world']['runtime']['after']
  readonly cloud: Cloud
  readonly shop: Shop
  readonly visitors: Visitors
  readonly judge: Judge
}

function act(actor: Actor, { after, cloud, shop, visitors, judge }: Stage): void {
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
    case 'pauses':
    case 'is away': {
      const ended = actor.act === 'pauses' ? 'resumes' : 'is back'
      const change = (what: Parameters<Shop['change']>[0]) => {
        shop.change(what)
        visitors.notify()
      }
      change(actor.act)
      after(actor.forMs, () => change(ended))
      break
    }
  }
}
