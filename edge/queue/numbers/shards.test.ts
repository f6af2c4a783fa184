/** The number of ticket shards is the sale's own, fixed when it was created; the setting counts where it has none. */
import { expect, it, vi } from 'vitest'
import { stopClock } from '../../testing/clocks.ts'
import { edgeEnv } from '../../testing/origin.ts'
import { knownCookie, TestSale, withShards } from '../../testing/visitors.ts'
import { objectOf } from '../rpc.ts'
import { MIRROR_MS } from '../timeline.ts'

const cookieOf = (visitor: number) => ({ cookie: knownCookie(`spread-over-shards-${visitor}`) })
const CROWD = 40

/** The shards of a sale that a crowd's joins, of known and unknown visitors, call for numbers. */
async function shardsOf(sale: TestSale, settings = edgeEnv) {
  const called = new Set<string>()
  const env = withShards((name) => {
    const shard = edgeEnv.TICKET_SHARD.getByName(name)
    const method = (_: object, method: string) => {
      if (method === 'joinAll' || method === 'take') called.add(name)
      return Reflect.get(shard, method)
    }
    return new Proxy(shard, { get: method })
  })
  const numbers: number[] = []
  const all = { ...env, TICKET_SHARDS: settings.TICKET_SHARDS }
  for (let i = 0; i < CROWD; i++) numbers.push((await sale.joined(cookieOf(i), all as typeof edgeEnv)).number)
  await sale.joined({}, all as typeof edgeEnv)
  return { numbers, called: [...called].sort() }
}

const namesOf = (sale: TestSale, count: number) => Array.from({ length: count }, (_, i) => `${sale.name}/${i}`)

it('spreads a sale’s visitors over its own number of shards, and finds them there under another setting', async () => {
  const [wide, narrow] = [new TestSale(), new TestSale()]
  await wide.publish({ ticket_shards: 3 })
  await narrow.publish({ ticket_shards: 1 })
  const [ofWide, ofNarrow] = [await shardsOf(wide), await shardsOf(narrow)]
  expect(ofWide.called).toEqual(namesOf(wide, 3))
  expect(ofNarrow.called).toEqual(namesOf(narrow, 1))
  const otherSetting = { ...edgeEnv, TICKET_SHARDS: '7' }
  expect(await shardsOf(wide, otherSetting)).toEqual(ofWide)
  expect((await shardsOf(narrow, otherSetting)).numbers).toEqual(ofNarrow.numbers)
})

it('uses the setting for a sale without a number of its own', async () => {
  const sale = await new TestSale().publish({ ticket_shards: null })
  expect((await shardsOf(sale)).called).toEqual(namesOf(sale, Number(edgeEnv.TICKET_SHARDS)))
})

it('says how old its copy of the snapshot is', async () => {
  const sale = await new TestSale().publish()
  stopClock()
  const ageMs = async () => {
    const response = await objectOf(`${sale.name}/0`, edgeEnv).poll({ queue: sale.name })
    return response.known ? response.snapshot.age_ms : Number.NaN
  }
  const first = await ageMs()
  vi.setSystemTime(Date.now() + MIRROR_MS)
  expect(await ageMs()).toBe(first + MIRROR_MS)
})
