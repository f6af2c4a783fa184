/** Checks of what attackers got, and of what honest visitors lost to the defences against them. */
import { n } from '../lib/figures.ts'
import { type Check, check } from './check.ts'
import type { Evidence, Gains } from './evidence.ts'

/** Of the units, all attacks together. */
const MOST = 0.02

/** Judged where an account is required: anywhere else the figures are what the shop has chosen. */
export function attackChecks({ attackers, stock }: Evidence): Check[] {
  if (!attackers) return []
  const { gains, refusedByLimit, needsAccount } = attackers
  const judged = (holds: boolean) => (needsAccount ? holds : null)
  const sum = (of: (gain: Gains) => number) => gains.reduce((all, gain) => all + of(gain), 0)
  const [bought, held] = [sum((gain) => gain.bought), sum((gain) => gain.held)]
  const share = (bought + held) / stock
  const percent = `${n(share * 100)} %`
  return [
    ...(gains.length === 0
      ? []
      : [
          check(
            `attackers get at most ${MOST * 100} % of the units`,
            judged(share <= MOST),
            `${percent}: ${n(bought)} bought, ${n(held)} kept from others on average, of ${n(stock)}; ${n(sum((gain) => gain.places))} places`,
          ),
        ]),
    check(
      'no honest visitor is refused by a limit',
      judged(refusedByLimit === 0),
      `${n(refusedByLimit)} visitors were refused by a limit`,
    ),
  ]
}
