/** Checks the views that the rules counted and dropped against what the crowd's people and bots really did. */
import { n } from '../lib/figures.ts'
import { type Check, check, type Evidence, ifAny, type ViewerKind } from './evidence.ts'

/** The share of each kind that has to be told apart. */
const LEAST = 0.95
/** The rules that drop each kind of bot. */
const RULES: Readonly<Record<Exclude<ViewerKind, 'people'>, readonly string[]>> = {
  agent: ['agent'],
  network: ['network'],
  rate: ['rate', 'repeat'],
  dwell: ['dwell'],
}

export function viewChecks({ views }: Evidence): Check[] {
  if (views === null) return []
  const { people, ...bots } = views.sent
  // The bot that comes often counts once: its other views are repetitions, or too many.
  const real = people + Math.min(1, bots.rate)
  const isNear = (counted: number, real: number) => counted >= real * LEAST && counted <= real / LEAST
  const kinds = Object.entries(bots).map(([kind, real]) => {
    const rules = RULES[kind as keyof typeof RULES]
    return { kind, real, dropped: rules.reduce((sum, rule) => sum + (views.dropped.get(rule) ?? 0), 0) }
  })
  const wrong = kinds.filter(({ real, dropped }) => !isNear(dropped, real))
  return [
    check(
      'the views of people are counted',
      ifAny(people, isNear(views.counted, real) && views.refused === 0),
      `${n(views.counted)} counted, ${n(people)} seen by people, ${n(views.refused)} beacons refused`,
    ),
    check(
      'the views of bots are told apart',
      ifAny(
        kinds.reduce((sum, { real }) => sum + real, 0),
        wrong.length === 0,
      ),
      kinds.map(({ kind, real, dropped }) => `by ${kind} ${n(dropped)} of ${n(real)}`).join(', '),
    ),
  ]
}
