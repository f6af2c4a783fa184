import { expect, test } from 'vitest'
import { QUEUES } from '../../../../jobs/queues.ts'
import { needsOf, QUEUE_WORDS, verdictOf } from './queue-words.ts'

const idle = { level: 'good', dead: 0, open: { waiting: 0, oldest_seconds: null } } as const
const busy = { level: 'good', dead: 0, open: { waiting: 900, oldest_seconds: 2 } } as const

test('each queue has its words', () => {
  expect(Object.keys(QUEUE_WORDS)).toEqual(Object.keys(QUEUES))
})

test('queues need somebody if jobs were given up or wait for too long, the worst first', () => {
  expect(verdictOf([{ queue: 'mail', ...busy }])).toEqual({
    level: 'good',
    text: 'Nothing is late, and nothing was given up.',
  })
  const queues = [
    { queue: 'charge', ...idle },
    { queue: 'mail', ...idle, level: 'watch', dead: 1 },
    { queue: 'webhook', level: 'bad', dead: 0, open: { waiting: 7_244, oldest_seconds: 1_020 } },
  ] as const
  expect(verdictOf(queues)).toEqual({ level: 'bad', text: '2 queues need you.' })
  expect(needsOf(queues).map(({ queue, what }) => [queue, what])).toEqual([
    ['webhook', '7,244 messages wait, the oldest for about 17 minutes.'],
    ['mail', '1 mail was given up.'],
  ])
})
