/** A rule as a form writes it, and in words. Pure. */
import type { RuleConfig } from '../../../../../shared/api/access.ts'

type When = RuleConfig['when']

export const ACTIONS: Readonly<Record<RuleConfig['action'], string>> = {
  refuse: 'Refuse',
  last: 'Give a number at the end of the line',
  prove: 'Ask for a proof of work first',
  allow: 'Let in, whatever the sale asks for',
}

/** The body of a call. What is wrong in it the API says. */
export function ruleIn(form: FormData): object {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const claim = text('claim')
  const asn = text('asn')
  const when = {
    address: text('address'),
    // What is no number is sent as it is, and refused with the API's words.
    asn: asn === '' ? '' : /^\d+$/.test(asn) ? Number(asn) : asn,
    country: text('country'),
    user_agent: text('user_agent'),
    line: text('line'),
    claim: claim === '' ? '' : { name: claim, value: valueIn(text('value')) },
  }
  const filled = Object.fromEntries(Object.entries(when).filter(([, value]) => value !== ''))
  return { when: filled, action: text('action'), note: text('note') }
}

/** A number, true or false is one of JSON; all else is text. */
function valueIn(text: string): string | number | boolean {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value
  } catch {
    // Text without quotes.
  }
  return text
}

export function inWords({ address, asn, country, user_agent, claim, line }: When): string {
  const parts = [
    address !== undefined && `address ${address}`,
    asn !== undefined && `network number ${asn}`,
    country !== undefined && `country ${country}`,
    user_agent !== undefined && `browser's name has "${user_agent}"`,
    claim !== undefined && `${claim.name} is ${String(claim.value)}`,
    line !== undefined && `line ${line}`,
  ]
  return parts.filter((part) => part !== false).join(', and ')
}
