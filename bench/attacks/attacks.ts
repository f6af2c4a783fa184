/**
 * The attacks that a rehearsal runs together with its honest crowd: what each kind of bot does, from the lobby to the
 * end.
 */
import { randomUUID } from 'node:crypto'
import { PAYMENT_ATTEMPTS } from '../../shared/api/order-status.ts'
import { type OrderAnswer, orderIn, problemType } from '../lib/responses.ts'
import { type Bot, type Ground, patienceOf } from './bot.ts'

export const ATTACKS = ['squat', 'stuff', 'hammer', 'share', 'drip'] as const
export type Attack = (typeof ATTACKS)[number]

/** A bot that was refused a place tries again this often; some kinds try for as long as the sale lasts. */
export const TRIES = 5
/** A squatter acts this long before a deadline. */
const BEFORE_END_MS = 500
/** A squatter requests a unit at this interval, whatever the response. */
const SQUATTER_ASKS_MS = 300
/** A squatter checks the order that waits for the bank at this interval. */
const LOOKS_MS = 200
/** The number of callers that share one admission or one session. */
const SHARERS = 100
/** The maximum number of calls of a hammer in one second, which a thousand sockets of one machine allow. */
const MAX_OPEN = 1_000
const HAMMER_PLACES = 5
const HAMMER_EVERY_MS = 1_000
/** The number of concurrent slow calls of a dripper, half of each kind. */
const DRIPS = 6
/** The pause between a failure and the next attempt. */
const AGAIN_MS = 500

/** Runs some bots of an attack with the clients that they are given. */
type Play = (ground: Ground, bots: readonly Bot[]) => Promise<void>

/** `together` is the number of bots that act as one. */
export const PLAYS: Readonly<Record<Attack, { readonly together: number; readonly play: Play }>> = {
  squat: { together: 1, play: squat },
  stuff: { together: 1, play: stuff },
  hammer: { together: MAX_OPEN, play: hammer },
  share: { together: SHARERS, play: share },
  drip: { together: 1, play: drip },
}

/**
 * Holds a unit without ever paying, for as long as possible, and takes it again. It joins as a new visitor when its
 * turn has passed.
 */
async function squat(ground: Ground, [bot]: readonly Bot[]) {
  while (bot && !ground.over()) {
    if (!(await bot.join(TRIES))) return
    while (await bot.wait()) if (!(await holdAgainAndAgain(ground, bot))) break
    await ground.pause(AGAIN_MS)
  }
}

/** True while its place may give another admission. */
async function holdAgainAndAgain(ground: Ground, bot: Bot): Promise<boolean> {
  while (!ground.over()) {
    const answer = await bot.checkout(randomUUID())
    const order = orderIn(answer)
    if (order) {
      const fromMs = performance.now()
      await ground.pause(ground.holdMs - BEFORE_END_MS)
      // Half of the squatters try each of the two ways to hold a unit longer.
      if (ground.random() < 0.5) await stall(ground, bot, order.order_id)
      await bot.giveBack(order.order_id)
      ground.loot.hold(order.order_id, fromMs, performance.now())
      continue
    }
    const type = problemType(answer)
    if (type === '/problems/not-admitted') {
      bot.admission = ''
      return true
    }
    if (answer.status === 410) return false
    await ground.pause(SQUATTER_ASKS_MS)
  }
  return false
}

/** Pays with a challenge at the bank, declines it at the last moment, and pays again, as often as allowed. */
async function stall(ground: Ground, bot: Bot, order: string) {
  const becomes = async (is: (order: OrderAnswer) => boolean) => {
    let seen = orderIn(await bot.look(order))
    while (!ground.over() && !(seen && is(seen))) {
      await ground.pause(LOOKS_MS)
      seen = orderIn(await bot.look(order))
    }
    return seen
  }
  for (let attempt = 1; attempt <= PAYMENT_ATTEMPTS && !ground.over(); attempt++) {
    if (!orderIn(await bot.pay(order, 'pm_3ds'))) return
    const asked = await becomes(({ status, payment }) => status !== 'paying' || payment?.status === 'requires_action')
    const { next_action, expires_in_seconds = 0 } = asked?.payment ?? {}
    if (!next_action) return
    await ground.pause(expires_in_seconds * 1_000 - BEFORE_END_MS)
    await fetch(`${next_action.url}/decline`, { method: 'POST', redirect: 'manual' })
    await becomes(({ status }) => status !== 'paying')
  }
}

/**
 * Gets as many ticket numbers as it can, each as a separate visitor, and buys with every one that is called. A place
 * from before the sale required accounts is given up, and all bots send it again with the same account.
 */
async function stuff(ground: Ground, [bot]: readonly Bot[]) {
  await bot?.giveUp()
  if (bot && (await bot.join(TRIES)) && (await bot.wait())) await buy(ground, bot)
}

async function buy(ground: Ground, bot: Bot) {
  const key = randomUUID()
  for (let i = 0; i < TRIES && !ground.over(); i++) {
    const answer = await bot.checkout(key)
    const order = orderIn(answer)
    if (order && order.status !== 'processing') {
      await bot.pay(order.order_id)
      return
    }
    if (answer.status === 410) return
    await ground.pause(patienceOf(answer))
  }
}

/**
 * Makes many concurrent calls with one place, and with its admission. It takes a few places, and uses the one that is
 * called first.
 */
async function hammer(ground: Ground, bots: readonly Bot[]) {
  const places = bots.slice(0, HAMMER_PLACES)
  for (const bot of places) void bot.join(TRIES).then((joined) => joined && bot.wait())
  while (!ground.over()) {
    const one = places.find((bot) => bot.admission !== '') ?? places[0]
    const calls = bots.map((_, i) =>
      i % 2 === 0 ? one?.checkout(randomUUID()) : i % 4 === 1 ? one?.poll() : one?.page(),
    )
    await ground.pause(HAMMER_EVERY_MS)
    const seen = (await Promise.all(calls)).map((answer) => answer && orderIn(answer))
    const reserved = new Set(seen.flatMap((order) => (order?.status === 'reserved' ? [order.order_id] : [])))
    // The hammer pays for the units that it gets, because holding them without paying is the attack of squatters.
    for (const order of reserved) await one?.pay(order)
  }
}

/** A hundred callers use one admission, and the session if there is one; each requests a unit with its own key. */
async function share(ground: Ground, bots: readonly Bot[]) {
  const [leader] = bots
  if (!leader || !(await leader.join(TRIES)) || !(await leader.wait())) return
  for (const bot of bots) bot.admission = leader.admission
  await Promise.all(bots.map((bot) => buy(ground, bot)))
}

/**
 * Gives an order up and then pays it with slow request bodies, and buys by slow forms. If these counted as slow
 * responses of the origin, the queue would stop for everybody.
 */
async function drip(ground: Ground, [bot]: readonly Bot[]) {
  if (!bot || !(await bot.join(TRIES)) || !(await bot.wait())) return
  const order = orderIn(await bot.checkout(randomUUID()))
  if (order) await bot.giveBack(order.order_id)
  while (!ground.over()) {
    const drops = Array.from({ length: DRIPS }, (_, i) =>
      order && i % 2 === 0 ? bot.paySlowly(order.order_id) : bot.buySlowly(),
    )
    await Promise.all([ground.pause(AGAIN_MS), ...drops])
  }
}
