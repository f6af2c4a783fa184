/** The rules that decide which views count: in words, and as a form gives them. */

import type { ViewRule } from '../../../../../shared/api/operators/views.ts'
import { plural } from '../../../../../shared/format.ts'
import { count, textIn } from '../../format.ts'

export type Kind = ViewRule['kind']

/** What each kind drops, for the choice of a new rule. */
export const KINDS: Readonly<Record<Kind, string>> = {
  min_seconds: 'Is seen for less than some seconds',
  repeat: 'Comes again within minutes',
  bots: 'Is a known bot',
  data_centres: 'Comes from a data centre',
  staff: 'Is one of the shop’s own',
  rate: 'Comes too often',
  addresses: 'Comes from an address of a list',
  networks: 'Comes from a network of a list',
}

export function inWords(rule: ViewRule): string {
  switch (rule.kind) {
    case 'min_seconds':
      return `Is seen for less than ${some(rule.seconds, 'second')}`
    case 'repeat':
      return `Comes again within ${some(rule.minutes, 'minute')}`
    case 'rate': {
      const time = rule.minutes === 1 ? 'a minute' : `in ${rule.minutes} minutes`
      const whose = rule.per === 'address' ? 'one address' : 'one visitor'
      return `More than ${some(rule.views, 'view')} ${time} from ${whose}`
    }
    case 'staff':
      return `Is one of the shop’s own (${some(rule.addresses.length, 'address', 'addresses')})`
    case 'addresses':
      return `Comes from ${named(rule.list)}`
    case 'networks':
      return `Comes from ${named(rule.asns.map((asn) => `AS${asn}`))}`
    default:
      return KINDS[rule.kind]
  }
}

/** What becomes of a view that the rule meets. */
export const effectOf = ({ kind }: Pick<ViewRule, 'kind'>) => (kind === 'repeat' ? 'counts once' : 'is not counted')

const some = (value: number, one: string, many = `${one}s`) =>
  `${count(value)} ${plural('en', value, { one, other: many })}`

const MAX_NAMED = 3
const named = (list: readonly string[]) =>
  list.length > MAX_NAMED
    ? `${list.slice(0, MAX_NAMED).join(', ')} and ${list.length - MAX_NAMED} more`
    : list.join(', ')

const listIn = (form: FormData, name: string) =>
  textIn(form, name)
    .split(/[\s,;]+/)
    .filter(Boolean)

/** The rule of a form, as the API reads it; the API says what is wrong with it. */
export function ruleIn(form: FormData): object {
  const kind = textIn(form, 'kind') as Kind
  const number = (name: string) => Number(textIn(form, name))
  const note = textIn(form, 'note')
  const fields: Readonly<Record<Kind, () => object>> = {
    min_seconds: () => ({ seconds: number('seconds') }),
    repeat: () => ({ minutes: number('minutes') }),
    bots: () => ({}),
    data_centres: () => ({}),
    staff: () => ({ addresses: listIn(form, 'list') }),
    rate: () => ({ views: number('views'), minutes: number('minutes'), per: textIn(form, 'per') }),
    addresses: () => ({ list: listIn(form, 'list') }),
    networks: () => ({ asns: listIn(form, 'list').map((one) => Number(one.replace(/^AS/i, ''))) }),
  }
  return { kind, ...fields[kind](), ...(note && { note }) }
}
