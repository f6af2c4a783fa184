import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fine, wrongs } from '../testing.ts'
import { levelOf, type Situation, summaryOf } from './sale-health.ts'

const WRONG = wrongs('an-order')
const summary = (changes: Partial<Situation>) => summaryOf({ ...fine, ...changes }, undefined)

describe('the summary of health', () => {
  it('is a state and a demand', () => {
    const text = (changes: Partial<Situation>) => summary(changes).text
    expect(text({})).toBe('Selling well. Nothing needs you.')
    expect(text(WRONG.webhooks ?? {})).toBe('Selling well. One thing needs you.')
    expect(text(WRONG.redis ?? {})).toBe('Selling without the gate. Get Redis back.')
    expect(text(WRONG.postgres ?? {})).toBe('Orders wait to be recorded. Leave the sale open.')
    expect(text(WRONG.workers ?? {})).toBe('Open, and in trouble. One thing needs you now.')
    expect(text({ minutes: [{ minute: '', counts: {}, gauges: { waiting: 0 } }] })).toContain('Open; nobody waits.')
    expect(text({ phase: 'sold_out' })).toBe('Sold out. Nothing needs you.')
    expect(text({ phase: 'paused', addsUp: false })).toContain('Two things need you now.')
  })

  it.each(Object.entries(WRONG))('is not green, and says what, since when and where to go: %s', (_, wrong) => {
    const { level, needs } = summary(wrong)
    expect(level).not.toBe('good')
    expect(needs).toMatchObject([{ what: expect.stringMatching(/\.$/), advice: expect.stringMatching(/\.$/) }])
    expect(needs[0]?.place.href).toMatch(/^(\/console\/|#\w|https:)/)
    expect(Date.parse(needs[0]?.since ?? '')).toBeLessThanOrEqual(fine.nowMs)
  })

  it('offers the control that a paused sale needs', () => {
    expect(summary({ phase: 'paused' }).needs.map(({ place }) => place)).toEqual([
      { text: 'Resume', href: '#controls' },
    ])
  })

  it('says that payments are the limit, and no more of the charges that wait for it', () => {
    const charges = { waiting: 2_400, oldest_seconds: 90 }
    const { needs } = summary({ backlogs: { ...fine.backlogs, charges } })
    expect(needs.map(({ what, level }) => [what, level])).toEqual([
      ['Payments are the limit: 100 a second, and charges wait 0:24.', 'watch'],
    ])
    expect(levelOf('charge', charges, 100)).toBe('watch')
    expect([levelOf('charge', charges, 2_000), levelOf('charge', charges, null)]).toEqual(['bad', 'bad'])
  })

  it('says the worst first, in the order of causes', () => {
    const all = summary({
      ...WRONG.webhooks,
      ...WRONG.workers,
      phase: 'paused',
      findings: WRONG['finding oversold']?.findings ?? [],
    })
    expect(all.needs.map(({ part }) => part)).toEqual(['Workers', 'Findings', 'Webhooks', 'Sale'])
  })

  it('remembers since when something is wrong', () => {
    const first = summary(WRONG.workers ?? {})
    const later = { ...fine, ...WRONG.workers, nowMs: fine.nowMs + 5_000 }
    expect(summaryOf(later, first).needs[0]?.since).toBe(new Date(fine.nowMs).toISOString())
    expect(summary(WRONG.webhooks ?? {}).needs[0]?.since).toBe(new Date(fine.nowMs - 218_000).toISOString())
  })

  it('is as bad as the worst part, whatever is wrong together', () => {
    const rank = { unknown: 0, good: 0, watch: 1, bad: 2 }
    const phases = fc.constantFrom('open' as const, 'upcoming' as const, 'sold_out' as const, 'ended' as const)
    fc.assert(
      fc.property(fc.subarray(Object.keys(WRONG)), phases, (names, phase) => {
        const wrong = names.map((name) => WRONG[name] ?? {})
        const findings = wrong.flatMap((one) => one.findings ?? [])
        const backlogs = Object.assign({}, fine.backlogs, ...wrong.map((one) => late(one)))
        const health = Object.assign({}, fine.health, ...wrong.map((one) => differing(one)))
        const { level, parts, needs } = summary({ ...Object.assign({}, ...wrong), phase, findings, backlogs, health })
        expect(rank[level]).toBe(Math.max(...parts.map((part) => rank[part.level])))
        for (const part of parts.filter((one) => rank[one.level] > 0))
          expect(needs.filter((need) => need.part === part.name).map((need) => need.level)).toContain(part.level)
        if (level === 'good') expect(needs).toEqual([])
      }),
    )
  })
})

const late = ({ backlogs = fine.backlogs }: Partial<Situation>) =>
  Object.fromEntries(Object.entries(backlogs).filter(([, backlog]) => (backlog?.waiting ?? 0) > 0))
const differing = ({ health = fine.health }: Partial<Situation>) =>
  Object.fromEntries(
    Object.entries(health).filter(([name, value]) => value !== fine.health[name as keyof typeof fine.health]),
  )
