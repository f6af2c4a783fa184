import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ProductWork } from './product-work.ts'

const products = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ sale: `${randomUUID()}`, product: `${i}` }))

test('goes on when one product fails, and throws at the end', async () => {
  const done: string[] = []
  const work = async ({ product }: { product: string }) => {
    if (product === '0') throw new Error('no')
    done.push(product)
  }
  await expect(new ProductWork().each('test', products(6), work)).rejects.toThrow('1 of 6')
  expect(done).toEqual(['1', '2', '3', '4', '5'])
})

test('goes on when some products hang, and starts those again only after they ended', async () => {
  const all = products(8)
  const actors = new ProductWork()
  const begun: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = async ({ product }: { product: string }) => {
    begun.push(product)
    if (Number(product) < 4) await promise
  }
  await expect(actors.each('test', all, work, 50)).rejects.toThrow('4 of 8')
  expect(begun.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
  begun.length = 0
  await expect(actors.each('test', all, work, 50)).rejects.toThrow('still in progress')
  expect(begun.sort()).toEqual(['4', '5', '6', '7'])
  // Each origin of this process keeps its own list.
  await expect(new ProductWork().each('test', all.slice(0, 1), work, 50)).rejects.toThrow('no result within')
  resolve()
  await sleep(10)
  await actors.each('test', all, work, 50)
})
