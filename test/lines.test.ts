/** A sale with two lines, through edge and origin: members by invitation, who come in earlier, and the public. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { QueueAnswer } from '../shared/api/public.ts'
import type { Schedule } from '../shared/schedule.ts'
import { sharedPart } from './run/shared-part.ts'

const SALE = 'two-lines'
const EACH = 40
const STOCK = 12
const RATE = 10

const system = await sharedPart('system')

const at = (path: string) => `${system.edgeUrl}/sales/${SALE}${path}`

async function admin<T = unknown>(method: string, path: string, body?: string | object): Promise<T> {
  const type = typeof body === 'string' ? 'text/csv' : 'application/json'
  const response = await fetch(`${system.originUrl}/admin/sales/${SALE}${path}`, {
    method,
    headers: { authorization: `Bearer ${system.adminToken}`, ...(body && { 'content-type': type }) },
    ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  expect(response.ok, await response.clone().text()).toBe(true)
  return (await response.json()) as T
}

async function schedule(line?: string): Promise<Schedule> {
  return (await (await fetch(at(`/schedule${line === undefined ? '' : `?line=${line}`}`))).json()) as Schedule
}

async function join(body: object): Promise<QueueAnswer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(at('/queue'), { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status).toBe(201)
  return (await response.json()) as QueueAnswer
}

async function statusOf({ queue_token }: QueueAnswer): Promise<QueueAnswer> {
  const response = await fetch(at('/queue/status'), { headers: { authorization: `Bearer ${queue_token}` } })
  return (await response.json()) as QueueAnswer
}

const checkout = (token: string) =>
  fetch(at('/checkout'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: '{}',
  })

const members: QueueAnswer[] = []
const others: QueueAnswer[] = []

test('members join by their invitation, everybody else the public line, each with a draw of its own', async () => {
  await admin('PUT', '', {
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
  await admin('PUT', '/invitations', `MEMBERS-ONLY,${EACH}\n`)
  const invitation = { invitation: 'members-only' }
  await expect.poll(async () => (await fetch(at('/schedule?line=members'))).status).toBe(200)
  members.push(...(await Promise.all(Array.from({ length: EACH }, () => join(invitation)))))
  others.push(...(await Promise.all(Array.from({ length: EACH }, () => join({})))))
  expect(new Set(members.map(({ line }) => line))).toEqual(new Set(['members']))
  expect(new Set(others.map(({ line }) => line))).toEqual(new Set(['public']))
  expect((await schedule('members')).draw_commitment).not.toBe((await schedule()).draw_commitment)
})

/** Those of a line whose turn has come, with their admissions. */
async function called(line: readonly QueueAnswer[]): Promise<string[]> {
  const now = await Promise.all(line.map(statusOf))
  return now.flatMap(({ admission_token }) => admission_token ?? [])
}

test('members buy before the sale opens for the public, which does not yet', async () => {
  await expect.poll(async () => (await called(members)).length).toBeGreaterThan(0)
  const [first = ''] = await called(members)
  // The edge's clock may be some milliseconds ahead: then the origin has not opened for members yet.
  await expect.poll(async () => (await checkout(first)).status).toBe(201)
  expect(await called(others)).toEqual([])
  expect((await schedule()).phase).toBe('pre_queue')
})

interface Figures {
  readonly invariant: { readonly available: number; readonly held: number; readonly sold: number }
  readonly queue: { readonly lines: readonly { readonly line: string; readonly called: number | null }[] }
}

test('once both are open, both are called, and together no more than there are units for', async () => {
  await admin('POST', '/open')
  await expect.poll(async () => (await called(others)).length).toBeGreaterThan(0)
  // Members were first, and have three times the weight.
  const { queue, invariant } = await admin<Figures>('GET', '')
  expect(queue.lines.map(({ line }) => line)).toEqual(['members', 'public'])
  const calledOf = (i: number) => queue.lines[i]?.called ?? 0
  expect(calledOf(0)).toBeGreaterThan(calledOf(1))
  expect(calledOf(0) + calledOf(1)).toBeLessThanOrEqual(5 * STOCK)
  expect(invariant.available + invariant.held + invariant.sold).toBe(STOCK)
  // Whoever is called buys, in either line, until all is in carts.
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
    .poll(async () => [(await schedule()).phase, (await schedule('members')).phase])
    .toEqual(['all_in_carts', 'all_in_carts'])
})
