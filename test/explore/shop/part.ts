/** The shop as a part that can be explored: its checkout, or its payments. */
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

export function shopPart(stores: readonly Stores[], name: 'checkout' | 'payments'): Part<Result> {
  const free = [...stores]
  /** Plays on stores that nobody else has meanwhile. */
  const onStores = async (play: (stores: Stores) => Promise<PlayedShop>): Promise<Result> => {
    const own = free.pop()
    if (!own) throw new Error('more orders are played at once than there are stores')
    try {
      return resultOf(await play(own))
    } finally {
      free.push(own)
    }
  }
  const shorten = async (failed: Result) => {
    const promise = promiseOf(failed.broken ?? '')
    const order = await shrink(failed.order, {
      fails: async (order) => {
        const result = await onStores((own) => playOrder(own, order))
        return promiseOf(result.broken ?? '') === promise ? result.order.decisions : null
      },
      sizeOf: ({ actors, decisions: { choices } }) =>
        20 * choices.length + 5 * actors.length + choices.filter(({ isDisturbed }) => isDisturbed).length,
    })
    return onStores((own) => playOrder(own, order))
  }
  return {
    name,
    points: POINTS,
    width: stores.length,
    play: (seed) => onStores((own) => playSeed(own, seed, name)),
    shorten,
  }
}

function resultOf({ order, steps, acted, error, terms }: PlayedShop): Result {
  const { total, limit, has, hasReplica } = terms
  const replica = hasReplica ? '; Redis has a replica' : ''
  const sale = `The sale has ${total} of each, at most ${limit} for a visitor, and ${has}${replica}.`
  return {
    order,
    steps,
    acted,
    broken: error ? error.message : null,
    actors: [sale, ...order.actors.map((actor) => `${nameOf(actor)} ${sentenceOf(actor)}.`)],
  }
}
