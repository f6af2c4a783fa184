/**
 * Who may join: the decision by the blocks and rules of a sale's policy. Pure; the routes ask for what it says, and the
 * counters of met rules go to the origin with the next report.
 */
import type { Policy } from '../../shared/api/access.ts'
import { rangeTest } from './limits/networks.ts'

type When = Policy['rules'][number]['when']

/** What the request itself shows of a caller. */
export interface Asking {
  readonly address: string
  /** Null where the platform does not provide it. */
  readonly asn: number | null
  readonly country: string | null
  readonly userAgent: string
  readonly visitor: string
  /** The account and its claims; null for a visitor who is not signed in. */
  readonly session: { readonly account: string; readonly claims: Readonly<Record<string, unknown>> } | null
  readonly line: string
}

/** ask: whatever the line asks for. `rule` is the rule that decided. */
interface Decision {
  readonly action: Policy['rules'][number]['action'] | 'ask' | 'blocked'
  readonly rule: string | null
}

/** The first rule that is met decides; a block decides before any rule. */
export function decide(policy: Policy, asking: Asking): Decision {
  const { isBlocked, rules } = compiled(policy)
  if (isBlocked(asking)) return { action: 'blocked', rule: null }
  const met = rules.find(({ meets }) => meets(asking))
  return met ?? ASK
}

const ASK: Decision = { action: 'ask', rule: null }

interface Compiled {
  readonly isBlocked: (asking: Asking) => boolean
  readonly rules: readonly (Decision & { readonly meets: (asking: Asking) => boolean })[]
}

const known = new WeakMap<Policy, Compiled>()

function compiled(policy: Policy): Compiled {
  const found = known.get(policy)
  if (found) return found
  const made = {
    isBlocked: blockTest(policy.blocks),
    rules: policy.rules.map((rule) => ({ ...rule, meets: test(rule.when) })),
  }
  known.set(policy, made)
  return made
}

function blockTest(blocks: Policy['blocks']): (asking: Asking) => boolean {
  const listed = (of: 'visitor' | 'account') => new Set(blocks.flatMap((block) => block[of] ?? []))
  const [visitors, accounts] = [listed('visitor'), listed('account')]
  const ranges = blocks.flatMap(({ address }) => (address === undefined ? [] : [rangeTest(address)]))
  return ({ visitor, session, address }) =>
    visitors.has(visitor) ||
    (session !== null && accounts.has(session.account)) ||
    ranges.some((contains) => contains(address))
}

/** Compiles a rule's conditions once, before the first caller. All must hold. */
function test({ address, asn, country, user_agent, claim, line }: When): (asking: Asking) => boolean {
  const tests: ((asking: Asking) => boolean)[] = []
  if (address !== undefined) {
    const contains = rangeTest(address)
    tests.push((asking) => contains(asking.address))
  }
  if (asn !== undefined) tests.push((asking) => asking.asn === asn)
  if (country !== undefined) tests.push((asking) => asking.country === country)
  if (user_agent !== undefined) {
    const part = user_agent.toLowerCase()
    tests.push((asking) => asking.userAgent.toLowerCase().includes(part))
  }
  if (claim !== undefined)
    tests.push(({ session }) => session !== null && hasValue(session.claims[claim.name], claim.value))
  if (line !== undefined) tests.push((asking) => asking.line === line)
  return (asking) => tests.every((meets) => meets(asking))
}

/** A claim may be a list, such as groups. */
const hasValue = (claim: unknown, value: unknown) => (Array.isArray(claim) ? claim.includes(value) : claim === value)
