/** A sale with several lines, as the edge asks for each of them and as buyers and operators see it. */
import { expect, test } from 'vitest'
import { useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

const LINES = [
  { line: 'members', weight: 3, opens_early_seconds: 600 },
  { line: 'public', weight: 1 },
]

interface State extends Readonly<Record<'phase' | 'line', string>> {
  readonly share: number
  readonly opens_in_ms: number
  readonly arrivals: number
  readonly admission: { readonly rate_per_second: number; readonly max_inside: number | null }
}

/** What a line's room is told, when it reports so many who wait. */
async function stateOf(room: string, waiting?: number): Promise<State> {
  const figures = { numbers_given: 1_000, called: 0, called_per_second: 0, boost: 1, throttle: 1, clock_ms: Date.now() }
  const report =
    waiting === undefined ? {} : { ...figures, waiting, coming_units: 0, coming_people: 0, likely_people: 0 }
  const query = Object.entries(report).map(([name, value]) => `${name}=${value}`)
  const answer = await origin.call('GET', `/internal/sales/${room}?${query.join('&')}`, { token: origin.edgeToken })
  expect(answer.status, room).toBe(200)
  return answer.body as unknown as State
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

test('opens a line before the others, for checkouts of its own admissions', async () => {
  const sale = await origin.sale({ lines: LINES, opens_at: inSeconds(300), pre_queue_opens_at: inSeconds(200) })
  const [members, publicly] = [await stateOf(`${sale}~members`), await stateOf(sale)]
  expect(members).toMatchObject({ phase: 'open', line: 'members' })
  expect(publicly).toMatchObject({ phase: 'upcoming', line: 'public' })
  // Both are asked within seconds of each other.
  expect(publicly.opens_in_ms - members.opens_in_ms).toBeLessThanOrEqual(600_500)
  expect(publicly.opens_in_ms - members.opens_in_ms).toBeGreaterThan(500_000)
  const checkoutFrom = async (line?: string) =>
    origin.checkout(sale, { token: await origin.token(sale, undefined, line === undefined ? {} : { line }) })
  const early = await checkoutFrom()
  expect([early.status, early.body.type]).toEqual([425, '/problems/not-open'])
  expect((await checkoutFrom('members')).status).toBe(201)
  expect((await checkoutFrom('unknown')).status).toBe(425)
  for (const room of [`${sale}~vip`, `${sale}~`, `${sale}~members~more`])
    expect((await origin.call('GET', `/internal/sales/${room}`, { token: origin.edgeToken })).status, room).toBe(404)
})

test('counts the arrivals of each line apart', async () => {
  const sale = await origin.sale({ lines: LINES })
  const from = async (line: string | undefined, num: number) =>
    origin.checkout(sale, { token: await origin.token(sale, undefined, { num, ...(line && { line }) }) })
  await Promise.all([from('members', 1), from('members', 2), from(undefined, 1)])
  await expect.poll(async () => (await stateOf(`${sale}~members`)).arrivals).toBe(2)
  await expect.poll(async () => (await stateOf(sale)).arrivals).toBe(1)
})

test('shares rate, room and units by weight among the lines in which somebody waits', async () => {
  const sale = await origin.sale({ lines: LINES, total: 40, admission: { rate_per_second: 100, max_inside: 20 } })
  const rounds = async (members: number, others: number) => {
    for (let round = 0; round < 3; round++) {
      await stateOf(`${sale}~members`, members)
      await stateOf(sale, others)
    }
    const states = [await stateOf(`${sale}~members`, members), await stateOf(sale, others)]
    return states.map(({ share, admission }) => ({ share, ...admission }))
  }
  // Where Redis is late for one of them, it has the part of its weight alone.
  await expect
    .poll(() => rounds(500, 500))
    .toEqual([
      { share: 0.75, rate_per_second: 75, max_inside: 15 },
      { share: 0.25, rate_per_second: 25, max_inside: 5 },
    ])
  await expect
    .poll(() => rounds(0, 500))
    .toEqual([
      { share: 0, rate_per_second: 0, max_inside: 0 },
      { share: 1, rate_per_second: 100, max_inside: 20 },
    ])
  const { body } = await origin.admin('GET', `/sales/${sale}`)
  const lines = [
    { line: 'members', waiting: 0 },
    { line: 'public', waiting: 500 },
  ]
  expect(body).toMatchObject({ queue: { waiting: 500, numbers_given: 2_000, lines } })
})

test('keeps the part of a line that has a lobby, and not yet turns, for those who have', async () => {
  const sale = await origin.sale({ lines: LINES, opens_at: inSeconds(300) })
  await stateOf(sale, 100_000)
  const members = () => stateOf(`${sale}~members`, 500)
  await expect.poll(members).toMatchObject({ share: 1, admission: { rate_per_second: 100 } })
  // What the public may expect.
  expect(await stateOf(sale, 100_000)).toMatchObject({ admission: { rate_per_second: 25 } })
})
