/** The line as a part that can be explored. */
import { type Decisions, type Recorded, ReplayedDecisions, SeededDecisions } from '../decisions.ts'
import { type Part, type Played, promiseOf } from '../explorer.ts'
import type { Step } from '../scheduler.ts'
import { type Order, shrink } from '../shrink.ts'
import type { Start } from './machine.ts'
import { type Actor, drawOrder, type Setting, sentenceOf } from './order.ts'
import { play } from './play.ts'

interface Result extends Played {
  readonly setting: Setting
  readonly acts: readonly Actor[]
  readonly decisions: Recorded
}

/** Time moves on so often while something else could go: what is late decides much about a line. */
const WAITS = 0.2

export function linePart(start: Start): Part<Result> {
  const playOrder = async (setting: Setting, acts: readonly Actor[], decisions: Decisions): Promise<Result> => {
    const { broken, steps, acted } = await play({ setting, actors: acts }, decisions, start)
    return {
      setting,
      acts,
      decisions: decisions.recorded,
      broken,
      steps: steps.map(named),
      acted,
      actors: [settingOf(setting)],
    }
  }
  return {
    name: 'line',
    points: POINTS,
    play(seed) {
      const { setting, actors } = drawOrder(seed)
      const decisions = new SeededDecisions(seed, { waits: WAITS })
      return playOrder(setting, actors, decisions)
    },
    async shorten(failed) {
      const replay = ({ actors, decisions }: Order<Actor>) =>
        playOrder(failed.setting, actors, new ReplayedDecisions(decisions))
      const order = await shrink<Actor>(
        { actors: failed.acts, decisions: failed.decisions },
        {
          fails: async (order) => {
            const { broken, decisions } = await replay(order)
            return promiseOf(broken ?? '') === promiseOf(failed.broken ?? '') ? decisions : null
          },
          sizeOf: ({ actors, decisions: { choices } }) =>
            1_000 * (actors.length + choices.filter(({ isDisturbed }) => isDisturbed).length) + choices.length,
        },
      )
      const shortest = await replay(order)
      return { ...shortest, ...storyOf(shortest) }
    },
  }
}

/** What goes on by itself in every line, such as the alarm once a second, is no part of the story. */
function storyOf({ steps, acts }: Result): Pick<Played, 'steps' | 'acted'> {
  const sentences = new Set(acts.map((act) => sentenceOf(act).what))
  const story = steps
    .filter(({ isDisturbed, what }) => isDisturbed || sentences.has(what))
    .map((step) => ({ ...step, sentence: `After ${step.atMs} ms ${step.sentence}`, isDisturbed: true }))
  return { steps: story, acted: story.length }
}

/** Points of one kind of object have one name. */
const named = (step: Step): Step => ({ ...step, what: step.what.replace(/ \d+,/, ',') })

const settingOf = ({ shards, isolates, stock, ratePerSecond, opensInMs, claimSeconds }: Setting) =>
  `A sale of ${stock} units at ${ratePerSecond} a second, with ${shards} shards and ${isolates} isolates, ` +
  `${opensInMs > 0 ? `opens after ${opensInMs} ms` : 'is open'}; a turn lasts ${claimSeconds} s.`

/** Where the line's code leaves its machine. */
const POINTS: ReadonlySet<string> = new Set([
  ...['calls the room, poll', 'calls the room, lease', 'calls the room, takeBack', 'calls the room, refresh'],
  ...['calls shard, poll', 'calls shard, take', 'calls shard, takeBack', 'calls shard, joinAll', 'calls shard, leave'],
  ...['calls hub, lease', 'calls hub, takeBack', 'calls mirror, poll', 'calls hub, poll'],
  ...['asks the origin', 'is due by its alarm', 'writes'],
])
