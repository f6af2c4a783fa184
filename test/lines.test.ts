/** A sale with two lines through edge and origin: members by invitation, who may come earlier, and the public. */
import { expect, test } from 'vitest'
import type { QueueAnswer } from '../shared/api/public.ts'
import { admin } from './lib/operator.ts'
import { visitorsOf } from './lib/visitor.ts'
import { sharedPart } from './run/shared-part.ts'

const SALE = 'two-lines'
const EACH = 40
const STOCK = 12
const RATE = 10

const system = await sharedPart('system')

const { schedule, join, status, checkout } = visitorsOf(system.edgeUrl, SALE)
const operator = <T>(method: string, path: string, body?: object | string) =>
  admin<T>(system, method, `/sales/${SALE}${path}`, body)

const crowd = async (body: object) =>
  (await Promise.all(Array.from({ length: EACH }, () => join({ body })))).map(({ body }) => body)

const members: QueueAnswer[] = []
const others: QueueAnswer[] = []

test('members join by their invitation, everybody else the public line, each with a draw of its own', async () => {
  await operator('PUT', '', {
    name: 'Two lines',
    opens_at: new Date(Date.now() + 600_000).toISOString(),
    hold_seconds: 60,
    products: [{ product_id: 'one', name: 'One', unit_price_minor: 100, currency: 'EUR', total: STOCK }],
    admission: { rate_per_second: RATE },
    lines: [
      { line: 'members', weight: 3, opens_early_seconds: 596, access: { invitation: 'required' } },
      { line: 'public', weight: 1 },
    ],
  })
  await operator('PUT', '/invitations', `MEMBERS-ONLY,${EACH}\n`)
  await expect.poll(async () => (await schedule('?line=members')).line).toBe('members')
  members.push(...(await crowd({ invitation: 'members-only' })))
  others.push(...(await crowd({})))
  expect(new Set(members.map(({ line }) => line))).toEqual(new Set(['members']))
  expect(new Set(others.map(({ line }) => line))).toEqual(new Set(['public']))
  expect((await schedule('?line=members')).draw_commitment).not.toBe((await schedule()).draw_commitment)
})

/** Returns the admissions of the visitors in a line whose turn has come. */
async function called(line: readonly QueueAnswer[]): Promise<string[]> {
  const now = await Promise.all(line.map(({ queue_token = '' }) => status(queue_token)))
  return now.flatMap(({ admission_token }) => admission_token ?? [])
}

test('members buy before the sale opens for the public, which does not yet', async () => {
  await expect.poll(async () => (await called(members)).length).toBeGreaterThan(0)
  const [first = ''] = await called(members)
  // The edge's clock may be some milliseconds ahead, and then the origin has not opened for members yet.
  await expect.poll(async () => (await checkout(first)).status).toBe(201)
  expect(await called(others)).toEqual([])
  expect((await schedule()).phase).toBe('pre_queue')
})

interface Figures {
  readonly invariant: { readonly available: number; readonly held: number; readonly sold: number }
  readonly queue: { readonly lines: readonly { readonly line: string; readonly called: number | null }[] }
}

test('once both are open, both are called, and together no more than there are units for', async () => {
  await operator('POST', '/open')
  await expect.poll(async () => (await called(others)).length).toBeGreaterThan(0)
  // Members came first, and have three times the weight.
  const { queue, invariant } = await operator<Figures>('GET', '')
  expect(queue.lines.map(({ line }) => line)).toEqual(['members', 'public'])
  const calledOf = (i: number) => queue.lines[i]?.called ?? 0
  expect(calledOf(0)).toBeGreaterThan(calledOf(1))
  expect(calledOf(0) + calledOf(1)).toBeLessThanOrEqual(5 * STOCK)
  expect(invariant.available + invariant.held + invariant.sold).toBe(STOCK)
  // Every called visitor of both lines buys, until all units are in carts.
  const bought = { members: 1, others: 0 }
  const buy = async (line: readonly QueueAnswer[]) => {
    const answers = await Promise.all((await called(line)).map(async (token) => (await checkout(token)).status))
    return answers.filter((status) => status === 201).length
  }
  await expect
    .poll(async () => {
      bought.others += await buy(others)
      bought.members += await buy(members)
      return bought.members + bought.others
    })
    .toBe(STOCK)
  expect(bought.others).toBeGreaterThan(0)
  await expect
    .poll(async () => [(await schedule()).phase, (await schedule('?line=members')).phase])
    .toEqual(['all_in_carts', 'all_in_carts'])
})
