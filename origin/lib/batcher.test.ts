import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assert } from '../../shared/lib/assert.ts'
import { Batcher, Overloaded } from './batcher.ts'

test('answers every call in order, within the limits', async () => {
  const upTo = (max: number) => fc.integer({ min: 1, max })
  await fc.assert(
    fc.asyncProperty(
      fc.record({ size: upTo(50), queue: upTo(100) }),
      // Calls in each turn of the event loop, and how many turns their group takes.
      fc.array(fc.record({ come: fc.nat(60), takes: fc.nat(4) }), { minLength: 1, maxLength: 12 }),
      fc.nat(700),
      async (limits, waves, fails) => {
        const started: number[] = []
        const broken: (readonly number[])[] = []
        let running = 0
        const batcher = new Batcher<number, string>(limits, async (calls) => {
          started.push(...calls)
          if (calls.length > limits.size || ++running > 1) broken.push(calls)
          for (let i = waves[(calls[0] as number) % waves.length]?.takes ?? 0; i > 0; i--) await turn()
          running--
          if (calls.includes(fails)) throw new Error(`fails with ${calls.join()}`)
          return calls.map((call) => `answer ${call}`)
        })
        const answers: Promise<string>[] = []
        for (const { come } of waves) {
          for (let i = 0; i < come; i++) {
            const call = answers.length
            answers.push(
              batcher.add(call).catch((error) => {
                if (error instanceof Overloaded) return 'overloaded'
                // The whole group fails, and no other.
                const group = error.message.split(/\D+/)
                return group.includes(`${call}`) && group.includes(`${fails}`) ? 'failed' : error.message
              }),
            )
          }
          await turn()
        }
        const results = await Promise.all(answers)
        const rejected = results.flatMap((answer, call) => (answer === 'overloaded' ? [call] : []))
        expect(started).toEqual([...results.keys()].filter((call) => !rejected.includes(call)))
        const expected = results.map((answer, call) =>
          /^(overloaded|failed)$/.test(answer) ? answer : `answer ${call}`,
        )
        expect(results).toEqual(expected)
        expect({ running, broken }).toEqual({ running: 0, broken: [] })
      },
    ),
  )
})

test('hands over a lone call in its own turn of the event loop, after a group too', async () => {
  const order: string[] = []
  const batcher = new Batcher<string, string>({ size: 9, queue: 9 }, async (calls) => {
    order.push(...calls)
    return calls
  })
  for (const call of ['first', 'second']) {
    const answer = batcher.add(call)
    setImmediate(() => order.push('the end of the turn'))
    await answer
    await turn()
  }
  expect(order).toEqual(['first', 'the end of the turn', 'second', 'the end of the turn'])
})

test('rejects a call at once when the queue is full, and serves the others', async () => {
  const gate = Promise.withResolvers<void>()
  const batcher = new Batcher<number, number>({ size: 2, queue: 3 }, async (calls) => {
    await gate.promise
    return [...calls]
  })
  const first = [batcher.add(1), batcher.add(2)]
  await turn()
  const waiting = [batcher.add(3), batcher.add(4), batcher.add(5)]
  await expect(batcher.add(6)).rejects.toThrow(Overloaded)
  gate.resolve()
  expect(await Promise.all([...first, ...waiting])).toEqual([1, 2, 3, 4, 5])
})

test('makes a pause between groups where one is asked for, and none before the first', async () => {
  const groups: number[][] = []
  const batcher = new Batcher<number, number>({ size: 9, queue: 9, pauseMs: 1_000 }, async (calls) => {
    groups.push([...calls])
    return calls
  })
  const first = batcher.add(1)
  await turn()
  expect(groups).toEqual([[1]])
  await first
  const second = batcher.add(2)
  await turn()
  await Promise.all([second, batcher.add(3)])
  expect(groups).toEqual([[1], [2, 3]])
})

test('after a failed assertion each call is tried again alone, and only the wrong one fails', async () => {
  const groups: (readonly number[])[] = []
  const batcher = new Batcher<number, number>({ size: 9, queue: 9 }, async (calls) => {
    groups.push(calls)
    assert(!calls.includes(2), 'Two is not served.')
    return calls
  })
  const answers = await Promise.allSettled([1, 2, 3].map((call) => batcher.add(call)))
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(groups).toEqual([[1, 2, 3], [1], [2], [3]])
})
