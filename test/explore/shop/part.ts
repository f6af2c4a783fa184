/** The shop as a part that can be explored: its checkout, its payments, or both. */
import type { Part, Played } from '../explorer.ts'
import { promiseOf } from '../explorer.ts'
import { type Order, shrink } from '../shrink.ts'
import { type Actor, nameOf, sentenceOf } from './actors.ts'
import { type PlayedShop, playOrder, playSeed } from './play.ts'
import { POINTS } from './points.ts'
import type { Stores } from './stores.ts'

interface Result extends Played {
  readonly order: Order<Actor>
}

export const shopPart = (stores: Stores, name: 'checkout' | 'payments'): Part<Result> => ({
  name,
  points: POINTS,
  play: async (seed) => resultOf(await playSeed(stores, seed, name)),
  async shorten(failed) {
    const promise = promiseOf(failed.broken ?? '')
    let shortest = failed
    await shrink(failed.order, async (order) => {
      const result = resultOf(await playOrder(stores, order))
      const isSame = promiseOf(result.broken ?? '') === promise
      if (isSame) shortest = result
      return isSame
    })
    return shortest
  },
})

function resultOf({ order, steps, acted, error, terms }: PlayedShop): Result {
  const { total, limit, has, hasReplica } = terms
  const sale = `The sale has ${total} of each, at most ${limit} for a visitor, and ${has}${hasReplica ? '; Redis has a replica' : ''}.`
  return {
    order,
    steps,
    acted,
    broken: error ? error.message : null,
    actors: [sale, ...order.actors.map((actor) => `${nameOf(actor)} ${sentenceOf(actor)}.`)],
  }
}
