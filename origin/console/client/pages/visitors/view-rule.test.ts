import { expect, test } from 'vitest'
import type { ViewRule } from '../../../../../shared/api/operators/views.ts'
import { inWords, ruleIn } from './view-rule.ts'

const rule = { rule: 'one', on: true, note: '' }

test.each<[ViewRule, string]>([
  [{ ...rule, kind: 'min_seconds', seconds: 1 }, 'Is seen for less than 1 second'],
  [{ ...rule, kind: 'repeat', minutes: 5 }, 'Comes again within 5 minutes'],
  [{ ...rule, kind: 'rate', views: 40, minutes: 1, per: 'pseudonym' }, 'More than 40 views a minute from one visitor'],
  [{ ...rule, kind: 'rate', views: 9, minutes: 3, per: 'address' }, 'More than 9 views in 3 minutes from one address'],
  [{ ...rule, kind: 'networks', asns: [1, 2, 3, 4, 5] }, 'Comes from AS1, AS2, AS3 and 2 more'],
  [{ ...rule, kind: 'staff', addresses: ['192.0.2.1'] }, 'Is one of the shop’s own (1 address)'],
  [{ ...rule, kind: 'bots' }, 'Is a known bot'],
])('says what a rule drops: %j', (one, words) => {
  expect(inWords(one)).toBe(words)
})

test.each([
  [
    { kind: 'networks', list: 'AS64502, as7\n64505' },
    { kind: 'networks', asns: [64502, 7, 64505] },
  ],
  [
    { kind: 'addresses', list: '192.0.2.1; 2001:db8::/48' },
    { kind: 'addresses', list: ['192.0.2.1', '2001:db8::/48'] },
  ],
  [
    { kind: 'rate', views: '40', minutes: '1', per: 'address' },
    { kind: 'rate', views: 40, minutes: 1, per: 'address' },
  ],
  [
    { kind: 'bots', note: 'all' },
    { kind: 'bots', note: 'all' },
  ],
])('reads a rule from its form: %j', (fields, read) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  expect(ruleIn(form)).toEqual(read)
})
