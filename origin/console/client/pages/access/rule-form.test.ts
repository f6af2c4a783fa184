import { describe, expect, it } from 'vitest'
import { inWords, ruleIn } from './rule-form.ts'

const form = (fields: Readonly<Record<string, string>>) => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  return data
}

describe('a rule as a form writes it', () => {
  it('has only the conditions that are filled in, each in its own type', () => {
    const when = { address: '', asn: '64500', country: 'DE', claim: 'vip', value: 'true' }
    const filled = { action: 'refuse', note: ' bots ', ...when }
    expect(ruleIn(form(filled))).toEqual({
      when: { asn: 64_500, country: 'DE', claim: { name: 'vip', value: true } },
      action: 'refuse',
      note: 'bots',
    })
    const text = ruleIn(form({ action: 'last', note: '', claim: 'tier', value: 'gold' }))
    expect(text).toMatchObject({ when: { claim: { name: 'tier', value: 'gold' } } })
    // The form sends the wrong value, and the API explains the error.
    expect(ruleIn(form({ action: 'last', asn: 'AS1' }))).toMatchObject({ when: { asn: 'AS1' } })
  })

  it('is read in words', () => {
    expect(inWords({ country: 'DE', user_agent: 'curl' })).toBe('country DE, and browser\'s name has "curl"')
  })
})
