/** What comes of a sale's settings: the question to the model, and its answer in the form's sentences. Pure. */

import type { Funnel } from '../../../../../../shared/api/operators/live.ts'
import { capital } from '../../../../../../shared/format.ts'
import { type WhatComes, type WhatIf, whatComes } from '../../../../../../shared/model/what-if.ts'
import { count, minuteOf } from '../../../format.ts'
import { type Body, valueAt } from '../draft.ts'
import { span, unitsFor } from './warnings.ts'

/** What is true now of a sale that runs. */
export interface Running {
  readonly nowMs: number
  readonly available: number
  readonly held: number
  readonly sold: number
  readonly funnel: Funnel
}

/** What nobody knows before the sale, and an operator may assume. */
export interface Assumed {
  readonly visitors: number
  /** The shares of the called who come, and of those with a unit who pay. */
  readonly comes: number
  readonly pays: number
}

/** One in seven does not come, and 15 of 100 with a unit do not pay: what sales usually see. */
const USUAL = { comes: 0.86, pays: 0.85 } as const
/** A sale in which fewer people are past a step says nothing about it yet. */
const ENOUGH = 100
/** The visitors for each unit, if nobody has said how many are expected. */
const VISITORS_PER_UNIT = 10

/** What to assume at first: what the sale itself has shown, or else what is usual. */
export function assumedAtFirst(body: Body, running: Running | null): Assumed {
  const expected = Number(valueAt(body, 'expected_visitors'))
  const usual = { ...USUAL, visitors: expected > 0 ? expected : VISITORS_PER_UNIT * Math.max(1, unitsFor(body)) }
  if (!running) return usual
  const { waiting, arrived, did_not_come, reserved, paid } = running.funnel
  const called = (arrived ?? 0) + (did_not_come ?? 0)
  const settled = reserved - running.held
  return {
    visitors: waiting || usual.visitors,
    comes: called >= ENOUGH ? shareOf(arrived ?? 0, called) : usual.comes,
    pays: settled >= ENOUGH ? shareOf(paid, settled) : usual.pays,
  }
}

/** In hundredths, and never 0, because then nothing would ever come of it. */
const shareOf = (part: number, of: number) => Math.min(1, Math.max(0.01, Math.round((100 * part) / of) / 100))

/** What comes of a configuration; null while it has no units or no rate. `added` units are not saved yet. */
export function comesOf(body: Body, assumed: Assumed, running: Running | null, added = 0): WhatComes | null {
  const [ends, opens] = ['ends_at', 'opens_at'].map((name) => Date.parse(String(valueAt(body, name))))
  const fromMs = running?.nowMs ?? opens ?? Number.NaN
  const asked: WhatIf = {
    ...assumed,
    units: running ? running.available + running.held + added : unitsFor(body),
    held: running?.held ?? 0,
    ratePerSecond: Number(valueAt(body, 'admission.rate_per_second')),
    maxInside: Number(valueAt(body, 'admission.max_inside')) || null,
    holdSeconds: Number(valueAt(body, 'hold_seconds')),
    endsInSeconds: ends === undefined || Number.isNaN(ends - fromMs) ? null : Math.max(0, (ends - fromMs) / 1000),
  }
  return whatComes(asked)
}

type ClockOf = (seconds: number) => string

/** "Sold out at about 12:06 instead of 12:07; the last visitor is told by 12:08." */
export function sentenceOf(now: WhatComes, before: WhatComes | null, clock: ClockOf): readonly [string, string] {
  const about = (seconds: number) => `about ${clock(seconds)}`
  const told = now.allToldSeconds === null ? '' : `the last visitor is told by ${clock(now.allToldSeconds)}.`
  const left = count(now.left)
  if (now.soldOutSeconds === null)
    return [
      now.left > 0 && now.allCalledSeconds !== null
        ? `All visitors are called by ${about(now.allCalledSeconds)}, and ${left} units are left.`
        : `${left} units are left at the end.`,
      now.allCalledSeconds === null ? capital(told) : '',
    ]
  const was = before?.soldOutSeconds ?? null
  const isOther = was !== null && clock(was) !== clock(now.soldOutSeconds)
  const instead = isOther ? ` instead of ${clock(was)}` : ''
  return [`Sold out at ${about(now.soldOutSeconds)}${instead};`, told]
}

export interface Stage {
  readonly name: 'Lobby' | 'Draw' | 'Line' | 'Last turns' | 'Over'
  readonly text: string
}

/** What a visitor goes through, from the lobby to the end. */
export function stagesOf(body: Body, comes: WhatComes | null, clock: ClockOf): readonly Stage[] {
  const [lobby, opens, ends] = ['pre_queue_opens_at', 'opens_at', 'ends_at'].map((name) =>
    Date.parse(String(valueAt(body, name))),
  ) as [number, number, number]
  const known = (ms: number) => !Number.isNaN(ms)
  const until = (seconds: number | null | undefined) =>
    seconds === null || seconds === undefined ? 'as long as units last' : `till about ${clock(seconds)}`
  return [
    {
      name: 'Lobby',
      text: !known(lobby)
        ? 'from the creation on'
        : known(opens) && opens > lobby
          ? `${minuteOf(lobby)}, for ${span((opens - lobby) / 1000)}`
          : 'none',
    },
    { name: 'Draw', text: known(opens) ? `${minuteOf(opens)}, by lot` : 'at the opening' },
    { name: 'Line', text: until(comes?.allInCartsSeconds ?? comes?.allCalledSeconds) },
    { name: 'Last turns', text: until(comes?.allToldSeconds) },
    { name: 'Over', text: known(ends) ? `${minuteOf(ends)} at the latest` : 'when all is sold' },
  ]
}
