/** The same decisions make the same steps, whatever becomes of calls, and a failure shrinks to what it needs. */
import { expect, test } from 'vitest'
import { ReplayedDecisions, SeededDecisions } from './decisions.ts'
import { Scheduler } from './scheduler.ts'
import { type Order, shrink } from './shrink.ts'

/** Two processes add one to a count, by a read and a write of their own. */
async function count({ actors, decisions }: Order<string>, seeded?: SeededDecisions) {
  const decided = seeded ?? new ReplayedDecisions(decisions)
  const scheduler = new Scheduler(decided)
  let stored = 0
  for (const name of actors) {
    const process = scheduler.process(name)
    const call = <T>(what: string, effect: () => T) =>
      process.call({ what, fates: ['done', 'late'], effect: async () => effect(), failure: effect })
    scheduler.actor('counts', async () => {
      const read = await call('reads', () => stored)
      await new Promise<void>((resolve) => void process.runtime.after(50, resolve))
      await call('writes', () => {
        stored = read + 1
      })
    })
  }
  await scheduler.run()
  const sentences = scheduler.steps.map(({ sentence }) => sentence)
  return { isLost: stored < actors.length, sentences, recorded: decided.recorded }
}

test('a lost update is found, plays again from its decisions, and shrinks to two who count', async () => {
  const actors = ['a', 'b', 'c']
  for (let seed = 1; ; seed++) {
    const seeded = new SeededDecisions(seed)
    const found = await count({ actors, decisions: { seed, choices: [] } }, seeded)
    const order = { actors, decisions: seeded.recorded }
    expect(await count(order)).toEqual(found)
    if (!found.isLost) continue
    const short = await shrink(order, {
      fails: async (one) => {
        const { isLost, recorded } = await count(one)
        return isLost ? recorded : null
      },
      sizeOf: ({ actors, decisions: { choices } }) => actors.length + choices.length,
    })
    expect(short.actors).toHaveLength(2)
    expect(short.decisions.choices.filter(({ isDisturbed }) => isDisturbed).length).toBeLessThanOrEqual(2)
    break
  }
})

test('a process that ends hears nothing more, and its timers are gone', async () => {
  const scheduler = new Scheduler(new ReplayedDecisions({ seed: 1, choices: [] }))
  const process = scheduler.process('one')
  const heard: string[] = []
  const asked = process.ask(() =>
    process.call({ what: 'asks', fates: ['done'], effect: async () => process.end(), failure: () => {} }),
  )
  process.runtime.after(10, () => heard.push('timer'))
  void asked.then((answer) => heard.push(`asked ${answer}`))
  await scheduler.run()
  expect(heard).toEqual(['asked undefined'])
})
