/** Queues in words: what each is for, what buyers notice when it fails, and what needs the operator. Pure. */
import { roughly } from '../../../../../shared/format.ts'
import { count } from '../../format.ts'

interface QueueWords {
  readonly name: string
  readonly about: string
  /** One job, and several. */
  readonly job: string
  readonly jobs: string
  /** What buyers notice while its jobs wait or were given up. */
  readonly noticed: string
  /** What another try does not do twice. */
  readonly once: string
}

export const QUEUE_WORDS: Readonly<Record<string, QueueWords>> = {
  charge: {
    ...{ name: 'Charges', about: 'to be authorized', job: 'charge', jobs: 'charges' },
    noticed: 'These buyers wait on the page of their payment.',
    once: 'the provider knows each charge by its key, and takes it once',
  },
  capture: {
    ...{ name: 'Captures', about: 'money of confirmed orders', job: 'capture', jobs: 'captures' },
    noticed: 'No buyer notices; the money of these orders is not taken yet.',
    once: 'the provider takes the money of a charge once',
  },
  refund: {
    ...{ name: 'Refunds', about: 'money to be given back', job: 'refund', jobs: 'refunds' },
    noticed: 'These buyers wait for their money.',
    once: 'the provider knows each refund by its key, and pays it once',
  },
  scheduled: {
    ...{ name: 'Scheduled actions', about: 'of all sales', job: 'action', jobs: 'actions' },
    noticed: 'What they were to do has not happened.',
    once: 'a run that was carried out is not carried out again',
  },
  webhook: {
    ...{ name: 'Webhooks', about: 'messages to endpoints', job: 'message', jobs: 'messages' },
    noticed: 'No buyer notices; the systems behind the endpoints know nothing of these orders.',
    once: 'receivers know a message by its id',
  },
  mail: {
    ...{ name: 'Mails', about: 'to buyers', job: 'mail', jobs: 'mails' },
    noticed: 'These buyers see their order on its page.',
    once: 'what a mail server has taken is not sent again',
  },
  alert: {
    ...{ name: 'Alerts', about: 'to the people on call', job: 'alert', jobs: 'alerts' },
    noticed: 'No buyer notices; whoever is on call does not hear of findings.',
    once: 'receivers show alerts about one finding as one',
  },
}

export function wordsOf(queue: string): QueueWords {
  const words = QUEUE_WORDS[queue]
  return words ?? { name: queue, about: '', job: 'job', jobs: 'jobs', noticed: '', once: 'what was done stays done' }
}

export const jobsIn = (queue: string, many: number) =>
  `${count(many)} ${many === 1 ? wordsOf(queue).job : wordsOf(queue).jobs}`

interface Judged {
  readonly queue: string
  readonly level: 'good' | 'watch' | 'bad'
  readonly dead: number
  readonly open: { readonly waiting: number; readonly oldest_seconds: number | null }
}

interface QueueNeed {
  readonly queue: string
  readonly what: string
  readonly noticed: string
}

/** Queues whose jobs were given up, or wait for too long, the worst first. */
export function needsOf(queues: readonly Judged[]): QueueNeed[] {
  const isLate = ({ level }: Judged) => level !== 'good'
  const worst = ({ level, dead }: Judged) => (level === 'bad' ? 2 : 0) + (dead > 0 ? 1 : 0)
  return queues
    .filter((one) => one.dead > 0 || isLate(one))
    .toSorted((a, b) => worst(b) - worst(a))
    .map((one) => {
      const { queue, dead, open } = one
      const gone = dead > 0 ? `${jobsIn(queue, dead)} ${dead === 1 ? 'was' : 'were'} given up.` : ''
      const late =
        isLate(one) && open.oldest_seconds !== null
          ? `${jobsIn(queue, open.waiting)} ${open.waiting === 1 ? 'waits' : 'wait'}, the oldest for about ` +
            `${roughly('en', open.oldest_seconds)}.`
          : ''
      return { queue, what: [gone, late].filter(Boolean).join(' '), noticed: wordsOf(queue).noticed }
    })
}

export function verdictOf(queues: readonly Judged[]): { level: 'good' | 'watch' | 'bad'; text: string } {
  const needs = needsOf(queues)
  if (needs.length === 0) return { level: 'good', text: 'Nothing is late, and nothing was given up.' }
  const isBad = queues.some(({ level }) => level === 'bad')
  const many = needs.length === 1 ? 'One queue needs you' : `${needs.length} queues need you`
  return { level: isBad ? 'bad' : 'watch', text: `${many}.` }
}
