import { expect, onTestFinished, test } from 'vitest'
import { saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { publishPhases } from './sale-events.ts'
import { writeSale } from './sale-queries.ts'
import { SaleWork } from './sale-work.ts'
import { Sales } from './sales.ts'

const sql = await useLedger()

test('a sale whose row is locked delays the events of no other sale', async () => {
  for (const sale of ['a-locked', 'b-free']) await writeSale(sql, sale, saleOf(1))
  await sql`update sales set published_phase = 'upcoming'`
  const sales = new Sales(sql)
  await sales.start()
  onTestFinished(() => sales.stop())
  const phaseOf = (sale: string) => async () =>
    (await sql`select published_phase from sales where sale_id = ${sale}`)[0]?.published_phase
  let round: Promise<void> | undefined
  await sql.begin(async (tx) => {
    await tx`select from sales where sale_id = 'a-locked' for update`
    round = publishPhases({ sql, sales, work: new SaleWork() })
    round.catch(() => {})
    await expect.poll(phaseOf('b-free')).toBe('open')
  })
  await expect.poll(phaseOf('a-locked')).toBe('open')
  await round?.catch(() => {})
})
