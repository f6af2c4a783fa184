/** Converts between a rule and its form, and describes a rule in words. Pure. */
import type { RuleConfig } from '../../../../../shared/api/access.ts'

type When = RuleConfig['when']

export const ACTIONS: Readonly<Record<RuleConfig['action'], string>> = {
  refuse: 'Refuse',
  last: 'Give a number at the end of the line',
  prove: 'Ask for a proof of work first',
  allow: 'Let in, whatever the sale asks for',
}

/** The body of a call. It is not validated here, because the API explains errors. */
export function ruleIn(form: FormData): object {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const claim = text('claim')
  const asn = text('asn')
  const when = {
    address: text('address'),
    // A text that is not a number is sent unchanged, and the API refuses it with an explanation.
    asn: asn === '' ? '' : /^\d+$/.test(asn) ? Number(asn) : asn,
    country: text('country'),
    user_agent: text('user_agent'),
    line: text('line'),
    claim: claim === '' ? '' : { name: claim, value: valueIn(text('value')) },
  }
  const filled = Object.fromEntries(Object.entries(when).filter(([, value]) => value !== ''))
  return { when: filled, action: text('action'), note: text('note') }
}

/** Parses numbers, true and false as JSON; everything else is text. */
function valueIn(text: string): string | number | boolean {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value
  } catch {
    // The value is text without quotes.
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
