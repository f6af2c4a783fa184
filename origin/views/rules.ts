/** The rules of views as decisions. A rule judges a view by itself, whatever the others say of it. Pure. */

import type { ViewRule } from '../../shared/api/operators/views.ts'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import { fromAddresses } from '../../shared/api/views/view-identity.ts'
import { DATA_CENTRES } from './data-centres.ts'

/** What the log says of a visitor before a view. */
export interface Before {
  /** The time since the visitor's view of this page that began last, in milliseconds. */
  readonly sinceRepeatMs: number
  /** The views that began in these minutes, with this one. */
  viewsIn(minutes: number, per: 'pseudonym' | 'address'): number
}

export type Check =
  | { readonly rule: string; readonly waits: true; readonly seconds: number }
  | { readonly rule: string; readonly waits: false; drops(event: ViewEvent, before: Before): boolean }

export interface CompiledRules {
  readonly checks: readonly Check[]
  /** How far back the rules look. */
  readonly windowMinutes: number
}

/** The rules of a system whose operators have set none. */
export const DEFAULT_RULES: readonly ViewRule[] = [
  { kind: 'bots', rule: 'bots', on: true, note: '' },
  { kind: 'data_centres', rule: 'data_centres', on: true, note: '' },
  { kind: 'rate', rule: 'rate', on: true, note: '', views: 40, minutes: 1, per: 'pseudonym' },
  { kind: 'repeat', rule: 'repeat', on: true, note: '', minutes: 5 },
]

/** The token is that of the edge, from which the hashes of addresses are made. */
export function compile(rules: readonly ViewRule[], edgeToken: string): CompiledRules {
  const inForce = rules.filter(({ on }) => on)
  return {
    checks: inForce.map((rule) => checkOf(rule, edgeToken)),
    windowMinutes: Math.max(0, ...inForce.map((rule) => ('minutes' in rule ? rule.minutes : 0))),
  }
}

function checkOf(rule: ViewRule, edgeToken: string): Check {
  if (rule.kind === 'min_seconds') return { rule: rule.rule, waits: true, seconds: rule.seconds }
  return { rule: rule.rule, waits: false, drops: dropsOf(rule, edgeToken) }
}

type Drops = (event: ViewEvent, before: Before) => boolean

function dropsOf(rule: Exclude<ViewRule, { kind: 'min_seconds' }>, edgeToken: string): Drops {
  switch (rule.kind) {
    case 'repeat':
      return (_, { sinceRepeatMs }) => sinceRepeatMs < rule.minutes * 60_000
    case 'bots':
      return ({ device }) => device === 'bot'
    case 'data_centres':
      return ({ asn }) => asn !== null && DATA_CENTRES.has(asn)
    case 'networks': {
      const asns = new Set(rule.asns)
      return ({ asn }) => asn !== null && asns.has(asn)
    }
    case 'rate':
      return (_, { viewsIn }) => viewsIn(rule.minutes, rule.per) > rule.views
    case 'staff':
      return fromAddresses(rule.addresses, edgeToken)
    case 'addresses':
      return fromAddresses(rule.list, edgeToken)
  }
}
