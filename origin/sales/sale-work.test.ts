import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SaleWork, workerOf } from './sale-work.ts'

const sales = (count: number) => Array.from({ length: count }, (_, i) => ({ sale_id: `${i}` }))

test('goes on when one sale fails, and throws at the end', async () => {
  const done: string[] = []
  const work = async ({ sale_id }: { sale_id: string }) => {
    if (sale_id === '0') throw new Error('no')
    done.push(sale_id)
  }
  await expect(new SaleWork().each('test', sales(6), work)).rejects.toThrow('1 of 6')
  expect(done).toEqual(['1', '2', '3', '4', '5'])
})

test('goes on when some sales hang, and starts those again only after they ended', async () => {
  const all = sales(8)
  const actors = new SaleWork()
  const begun: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = async ({ sale_id }: { sale_id: string }) => {
    begun.push(sale_id)
    if (Number(sale_id) < 4) await promise
  }
  await expect(actors.each('test', all, work, 50)).rejects.toThrow('4 of 8')
  expect(begun.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
  begun.length = 0
  await expect(actors.each('test', all, work, 50)).rejects.toThrow('still in progress')
  expect(begun.sort()).toEqual(['4', '5', '6', '7'])
  // Each origin of this process keeps its own list.
  await expect(new SaleWork().each('test', all.slice(0, 1), work, 50)).rejects.toThrow('no result within')
  resolve()
  const ended = () => actors.each('test', all, work).then(() => 'all', String)
  await expect.poll(ended).toBe('all')
})

test('each sale has one of the workers, and changes it only where its own has gone', () => {
  const names = fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 8 })
  fc.assert(
    fc.property(names, fc.uniqueArray(fc.string(), { maxLength: 50 }), (workers, all) => {
      const gone = workers[0] ?? ''
      const others = workers.slice(1)
      for (const sale of all) {
        const before = workerOf(sale, workers)
        expect(workers).toContain(before)
        expect(workerOf(sale, workers.toReversed())).toBe(before)
        const after = workerOf(sale, others)
        if (before === gone) expect(others).toContain(after)
        else expect(after).toBe(before)
      }
    }),
  )
})

test('workers share the sales about evenly, and one alone has all', async () => {
  const all = sales(300)
  const workers = ['a1', 'b2', 'c3']
  const shares = workers.map(() => [] as string[])
  for (const [i, worker] of workers.entries()) {
    const work = new SaleWork()
    work.share(worker, workers)
    await work.each('test', all, async ({ sale_id }) => shares[i]?.push(sale_id))
  }
  expect(shares.flat().sort()).toEqual(all.map(({ sale_id }) => sale_id).sort())
  for (const share of shares) expect(share.length).toBeGreaterThan(50)
  const alone = new SaleWork()
  alone.share('a1', ['a1'])
  const done: string[] = []
  await alone.each('test', all, async ({ sale_id }) => done.push(sale_id))
  expect(done).toHaveLength(300)
})
