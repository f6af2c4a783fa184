/** Decides who may join which line, by the blocks, rules and lines of a sale's policy. Pure. */
import { type JoinRequest, type LineAccess, type Policy, PUBLIC_LINE } from '../../shared/api/access.ts'
import { invalidField, ProblemError } from '../../shared/problem.ts'
import { rangeTest } from '../http/limits/networks.ts'

type When = Policy['rules'][number]['when']

/** The properties of a request by which a visitor is judged. */
export interface Applicant {
  readonly address: string
  /** The autonomous system; null if the platform does not provide it. */
  readonly asn: number | null
  readonly country: string | null
  readonly userAgent: string
  readonly visitor: string
  /** The account and its claims; null for a visitor who is not signed in. */
  readonly session: { readonly account: string; readonly claims: Readonly<Record<string, unknown>> } | null
}

export interface Decision {
  /** The line that the visitor may join, or that refuses them. */
  readonly line: string
  /** `ask` means that the requirements of the line apply. */
  readonly action: Policy['rules'][number]['action'] | 'ask' | 'blocked'
  /** The rule that decided; null if none did. */
  readonly rule: string | null
  /** The requirements of the line. */
  readonly access: LineAccess
}

/**
 * Decides about a visitor: in the line that they request, or otherwise in the first line of the sale's list whose
 * access they meet. A visitor who meets none is refused with the refusal of the public line. Throws `invalid-fields`
 * for an unknown line.
 */
export function decide(
  policy: Policy,
  applicant: Applicant | null,
  { line: wanted, invitation }: JoinRequest,
): Decision {
  const names = policy.lines.map(({ line }) => line)
  if (wanted !== undefined && !names.includes(wanted))
    throw new ProblemError(invalidField('line', `one of ${names.join(', ')}`))
  const [first = PUBLIC_LINE, ...others] = names
  if (wanted !== undefined || others.length === 0) return decideIn(wanted ?? first, policy, applicant)
  const mayJoin = ({ action, access }: Decision) => {
    if (action === 'blocked' || action === 'refuse') return false
    if (access.sign_in === 'required' && !applicant?.session) return false
    return access.invitation === 'off' || invitation !== undefined
  }
  const decisions = names.map((line) => decideIn(line, policy, applicant))
  return decisions.find(mayJoin) ?? decideIn(names.includes(PUBLIC_LINE) ? PUBLIC_LINE : first, policy, applicant)
}

/**
 * A block decides before any rule, followed by the first matching rule. Without an applicant (in a sale that is open
 * to all) the requirements of the line apply.
 */
function decideIn(line: string, policy: Policy, applicant: Applicant | null): Decision {
  const ask = { line, action: 'ask', rule: null, access: accessOf(policy, line) } as const
  if (applicant === null) return ask
  if (isBlocked(policy, applicant)) return { ...ask, action: 'blocked' }
  const { action, rule } = compileRules(policy).rules.find(({ meets }) => meets(applicant, line)) ?? ask
  return { ...ask, action, rule }
}

export const isBlocked = (policy: Policy, applicant: Applicant | null) =>
  applicant !== null && compileRules(policy).isBlocked(applicant)

/** True if the decision does not depend on the applicant. */
export function isOpenToAll({ rules, blocks, lines }: Policy): boolean {
  const [only, ...others] = lines
  if (!only || rules.length + blocks.length + others.length > 0) return false
  return only.access.sign_in === 'optional' && only.access.invitation === 'off'
}

/** The access of a line, or of the first line if this one was removed. */
export function accessOf({ lines }: Policy, line: string): LineAccess {
  const found = lines.find((known) => known.line === line) ?? lines[0]
  if (!found) throw new Error('a sale has no line')
  return found.access
}

type Test = (applicant: Applicant, line: string) => boolean

interface CompiledRules {
  readonly isBlocked: (applicant: Applicant) => boolean
  readonly rules: readonly (Pick<Policy['rules'][number], 'rule' | 'action'> & { readonly meets: Test })[]
}

const rulesByPolicy = new WeakMap<Policy, CompiledRules>()

function compileRules(policy: Policy): CompiledRules {
  const found = rulesByPolicy.get(policy)
  if (found) return found
  const made = {
    isBlocked: blockTest(policy.blocks),
    rules: policy.rules.map((rule) => ({ ...rule, meets: test(rule.when) })),
  }
  rulesByPolicy.set(policy, made)
  return made
}

function blockTest(blocks: Policy['blocks']): (applicant: Applicant) => boolean {
  const listed = (of: 'visitor' | 'account') => new Set(blocks.flatMap((block) => block[of] ?? []))
  const [visitors, accounts] = [listed('visitor'), listed('account')]
  const ranges = blocks.flatMap(({ address }) => (address === undefined ? [] : [rangeTest(address)]))
  return ({ visitor, session, address }) =>
    visitors.has(visitor) ||
    (session !== null && accounts.has(session.account)) ||
    ranges.some((contains) => contains(address))
}

/** Compiles a rule's conditions once, before the first caller. All of them must hold. */
function test({ address, asn, country, user_agent, claim, line }: When): Test {
  const tests: Test[] = []
  if (address !== undefined) {
    const contains = rangeTest(address)
    tests.push((applicant) => contains(applicant.address))
  }
  if (asn !== undefined) tests.push((applicant) => applicant.asn === asn)
  if (country !== undefined) tests.push((applicant) => applicant.country === country)
  if (user_agent !== undefined) {
    const part = user_agent.toLowerCase()
    tests.push((applicant) => applicant.userAgent.toLowerCase().includes(part))
  }
  if (claim !== undefined)
    tests.push(({ session }) => session !== null && hasValue(session.claims[claim.name], claim.value))
  if (line !== undefined) tests.push((_, wanted) => wanted === line)
  return (applicant, wanted) => tests.every((meets) => meets(applicant, wanted))
}

/** The value of a claim may be a list, for example of groups. */
const hasValue = (claim: unknown, value: unknown) => (Array.isArray(claim) ? claim.includes(value) : claim === value)
