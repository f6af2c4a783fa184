/** The cluster that other tests use: it serves every slot, and replaces a killed master. */
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from './origin-process.ts'
import { type RedisCluster, startRedisCluster } from './redis-cluster.ts'

let cluster: RedisCluster
let client: Cluster
beforeAll(async () => {
  cluster = await startRedisCluster()
  client = new Cluster(addresses(cluster.url))
  client.on('error', () => {})
})
afterAll(async () => {
  client?.disconnect()
  await cluster?.stop()
})

test('every key is where masterOf says', async () => {
  const ports = addresses(cluster.url).map(({ port }) => port)
  const ranges = await client.cluster('SLOTS')
  for (const key of ['', 'a', 'key-1', 'ключ', '{a}b', 'b{a}', '{}{a}', 'x{{a}}', '{a', ...keys(50)]) {
    const slot = await client.cluster('KEYSLOT', key)
    const range = ranges.find(([from, to]) => from <= slot && slot <= to)
    expect(ports[cluster.masterOf(key)], key).toBe(range?.[2]?.[1])
  }
  expect(ranges.map(([from, to]) => to - from + 1).sort()).toEqual([5461, 5461, 5462])
})

test('a replica serves the slots of a killed master, and the others are not interrupted', async () => {
  const [lost = '', ...others] = [0, 1, 2].map((index) => keyOf(index))
  for (const key of [lost, ...others]) expect(await client.set(key, 'before')).toBe('OK')
  await cluster.killMaster()
  for (const key of others) expect(await client.set(key, 'after')).toBe('OK')
  const write = () => client.set(lost, 'after').catch((error: Error) => error.message)
  expect(await eventually(write, (answer) => answer === 'OK', 10_000)).toBe('OK')
  for (const key of [lost, ...others]) expect(await client.get(key)).toBe('after')
})

function addresses(url: string): { host: string; port: number }[] {
  return url
    .replace('redis+cluster://', '')
    .split(',')
    .map((address) => {
      const [host = '', port] = address.split(':')
      return { host, port: Number(port) }
    })
}

function keys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `key-${index}`)
}

function keyOf(master: number): string {
  return keys(100).find((key) => cluster.masterOf(key) === master) ?? ''
}
