/** An endpoint in words: its state, what needs somebody, and what happens by itself. Pure. */
import type { WebhookState } from '../../../../../shared/api/operators/answers.ts'
import { clock, roughly } from '../../../../../shared/format.ts'
import { count, time } from '../../format.ts'

type Judged = Pick<
  WebhookState,
  'state' | 'waiting' | 'dead' | 'reason' | 'fails_since' | 'next_attempt_at' | 'accepted_at' | 'oldest_seconds'
>

export interface EndpointVerdict {
  readonly level: 'good' | 'watch' | 'info'
  /** The state in two words, for the list of endpoints. */
  readonly short: string
  /** The state and since when. */
  readonly text: string
  readonly nextSeconds: number | null
  /** What happens by itself; null if nothing needs anybody. */
  readonly advice: string | null
}

const messages = (many: number) => `${count(many)} ${many === 1 ? 'message' : 'messages'}`

export function verdictOf(endpoint: Judged, nowMs: number): EndpointVerdict {
  const { state, waiting = 0, dead = 0, reason = null, fails_since = null, next_attempt_at = null } = endpoint
  const { accepted_at = null } = endpoint
  if (state === 'paused')
    return {
      level: 'info',
      short: 'Paused',
      text: 'It is paused: nothing is sent.',
      nextSeconds: null,
      advice:
        waiting === 0
          ? null
          : `${messages(waiting)} ${waiting === 1 ? 'waits' : 'wait'}, a day at most. Buyers notice nothing.`,
    }
  if (reason === null || fails_since === null) {
    const givenUp = `${messages(dead)} ${dead === 1 ? 'was' : 'were'} given up: choose them below to send them again.`
    return {
      level: dead > 0 ? 'watch' : 'good',
      short: accepted_at === null ? 'Active' : 'Answers',
      text: accepted_at === null ? 'Nothing was sent within a day.' : 'It answers.',
      nextSeconds: null,
      advice: dead > 0 ? givenUp : null,
    }
  }
  const nextSeconds = next_attempt_at === null ? null : Math.max(0, (Date.parse(next_attempt_at) - nowMs) / 1000)
  const takesOthers = accepted_at !== null && Date.parse(accepted_at) > Date.parse(fails_since)
  return {
    level: 'watch',
    short: takesOthers ? 'Refuses some' : 'Fails',
    text: `${reason}, since ${time(fails_since)}.`,
    nextSeconds,
    advice: takesOthers
      ? `It accepts other messages. ${messages(waiting)} ${waiting === 1 ? 'waits' : 'wait'}, each tried again by ` +
        'itself for 24 hours. Buyers notice nothing.'
      : 'One message at a time is tried. Once it answers, ' +
        `${waiting === 1 ? 'what waits is' : `all ${count(waiting)} are`} sent, ` +
        'those of an order in their order. Buyers notice nothing. A message is given up after 24 hours.',
  }
}

/** The demand on one line: when it is asked again. */
export const nextText = ({ nextSeconds }: EndpointVerdict) =>
  nextSeconds === null ? null : nextSeconds < 1 ? 'asked again now' : `asked again in ${clock('en', nextSeconds)}`

/** The line of an endpoint in the list. */
export function lineOf({
  waiting = 0,
  oldest_seconds = null,
  dead = 0,
  sent_day = 0,
  median_ms = null,
}: Judged & Pick<WebhookState, 'sent_day' | 'median_ms'>): string {
  const givenUp = dead > 0 ? `; ${count(dead)} given up` : ''
  if (waiting > 0) {
    const oldest = oldest_seconds === null ? '' : `, the oldest for ${roughly('en', oldest_seconds)}`
    return `${count(waiting)} wait${waiting === 1 ? 's' : ''}${oldest}${givenUp}`
  }
  const within = median_ms === null ? '' : `, half within ${count(Math.round(median_ms))} ms`
  return `${count(sent_day)} sent in 24 hours${within}${givenUp}`
}

/** The page's line below its title. */
export function headOf(all: readonly Judged[], nowMs: number): string {
  const failing = all.filter((one) => verdictOf(one, nowMs).level === 'watch').length
  const many = `${all.length} ${all.length === 1 ? 'endpoint' : 'endpoints'}`
  return `${many}; ${failing === 0 ? 'none needs you' : `${failing} ${failing === 1 ? 'needs' : 'need'} you`}`
}
