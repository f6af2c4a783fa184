import { expect, it } from 'vitest'
import type { Policy } from '../../shared/api/access.ts'
import { networksOf, rangeTest } from '../http/limits/networks.ts'
import { OPEN_TO_ALL } from '../testing/simulation.ts'
import { type Applicant, decide } from './rules.ts'

const CALLER: Applicant = {
  address: '192.0.2.7',
  asn: 64_500,
  country: 'DE',
  userAgent: 'Mozilla/5.0 (X11) HeadlessChrome/120',
  visitor: 'v1',
  session: { account: 'ada', claims: { tier: 'gold', groups: ['staff', 'press'], age: 17 } },
}

type When = Policy['rules'][number]['when']
const meets = (when: When, caller: Partial<Applicant> = {}) =>
  decide({ ...OPEN_TO_ALL, rules: [{ rule: '1', when, action: 'refuse' }] }, { ...CALLER, ...caller }, {}).action ===
  'refuse'

it('meets a rule by each of its conditions, and only with all of them', () => {
  const met: When[] = [
    { address: '192.0.2.0/24' },
    { address: '192.0.2.7' },
    { asn: 64_500 },
    { country: 'DE' },
    { user_agent: 'headlesschrome' },
    { claim: { name: 'tier', value: 'gold' } },
    { claim: { name: 'groups', value: 'press' } },
    { claim: { name: 'age', value: 17 } },
    { line: 'public' },
  ]
  const missed: When[] = [
    { address: '192.0.3.0/24' },
    { address: '2001:db8::/32' },
    { asn: 64_501 },
    { country: 'AT' },
    { user_agent: 'curl' },
    { claim: { name: 'age', value: '17' } },
    { claim: { name: 'constructor', value: 'x' } },
    { line: 'members' },
  ]
  for (const when of met) expect(meets(when), JSON.stringify(when)).toBe(true)
  for (const when of missed) {
    expect(meets(when), JSON.stringify(when)).toBe(false)
    for (const other of met) expect(meets({ ...other, ...when }), JSON.stringify({ ...other, ...when })).toBe(false)
  }
  expect(meets(Object.assign({}, ...met))).toBe(true)
})

it('knows nothing of a caller of whom nothing is known', () => {
  const nobody = { address: '', asn: null, country: null, userAgent: '', session: null }
  for (const when of [
    { address: '0.0.0.0/0' },
    { asn: 1 },
    { country: 'DE' },
    { claim: { name: 'tier', value: 'gold' } },
  ])
    expect(meets(when, nobody)).toBe(false)
})

it('lets the first rule that is met decide, and a block before all', () => {
  const rules: Policy['rules'] = [
    { rule: '1', when: { country: 'AT' }, action: 'refuse' },
    { rule: '2', when: { claim: { name: 'tier', value: 'gold' } }, action: 'allow' },
    { rule: '3', when: { country: 'DE' }, action: 'refuse' },
  ]
  const decided = (changes: Partial<Policy>) => decide({ ...OPEN_TO_ALL, rules, ...changes }, CALLER, {})
  expect(decided({})).toMatchObject({ action: 'allow', rule: '2' })
  expect(decided({ rules: [] })).toMatchObject({ action: 'ask', rule: null })
  for (const block of [{ visitor: 'v1' }, { account: 'ada' }, { address: '192.0.2.0/28' }])
    expect(decided({ blocks: [{ visitor: 'v2' }, block] })).toMatchObject({ action: 'blocked', rule: null })
  expect(decided({ blocks: [{ account: 'v1' }, { visitor: 'ada' }] })).toMatchObject({ action: 'allow' })
})

it('counts an address by its networks, in whatever form it comes', () => {
  expect(networksOf('192.0.2.7')).toEqual(['192.0.2.7/32', '192.0.2/24'])
  expect(networksOf('::ffff:192.0.2.7')).toEqual(networksOf('192.0.2.7'))
  const [home, site, carrier] = networksOf('2001:db8:1:2:3::4')
  expect(networksOf('2001:db8:1:2:ffff::1')[0]).toBe(home)
  expect(networksOf('2001:0DB8:0001:00ff::')).toEqual([expect.not.stringMatching(String(home)), site, carrier])
  expect(networksOf('2001:db8:1:ff00::')).toEqual([expect.anything(), expect.not.stringMatching(String(site)), carrier])
  expect(networksOf('unknown')).toEqual(['unknown'])
  expect(networksOf('')).toEqual([''])
})

it('tests an address against a range of either kind', () => {
  expect(rangeTest('2001:db8::/32')('2001:db8:ffff::1')).toBe(true)
  expect(rangeTest('2001:db8::/32')('2001:db9::1')).toBe(false)
  expect(rangeTest('192.0.2.0/24')('::ffff:192.0.2.9')).toBe(true)
  expect(rangeTest('::ffff:192.0.2.0/120')('192.0.2.9')).toBe(true)
  expect(rangeTest('::ffff:192.0.2.0/120')('192.0.3.9')).toBe(false)
  for (const broken of ['192.0.2.0/99', 'nonsense', '']) expect(rangeTest(broken)('192.0.2.1')).toBe(false)
})
