/** Who may join which line: the decision by the blocks, rules and lines of a sale's policy. Pure functions. */
import { type LineAccess, type Policy, PUBLIC_LINE } from '../../shared/api/access.ts'
import { rangeTest } from './limits/networks.ts'

type When = Policy['rules'][number]['when']

/** What the request itself shows of somebody who wants to join. */
export interface Applicant {
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
export function decide(policy: Policy, applicant: Applicant): Decision {
  const { isBlocked, rules } = compiled(policy)
  if (isBlocked(applicant)) return { action: 'blocked', rule: null }
  const met = rules.find(({ meets }) => meets(applicant))
  return met ?? ASK
}

/** True where it does not matter who applies. */
export function isOpenToAll({ rules, blocks, lines }: Policy): boolean {
  const [only, ...others] = lines
  if (!only || rules.length + blocks.length + others.length > 0) return false
  return only.access.sign_in === 'optional' && only.access.invitation === 'off'
}

/** The first line whose access somebody meets, in the order of the list; the public one for somebody who meets none. */
export function lineFor(policy: Policy, applicant: Applicant, hasInvitation: boolean): string {
  const { lines } = policy
  const mayJoin = ({ line, access }: Policy['lines'][number]) => {
    const { action } = decide(policy, { ...applicant, line })
    if (action === 'blocked' || action === 'refuse') return false
    if (access.sign_in === 'required' && !applicant.session) return false
    return access.invitation === 'off' || hasInvitation
  }
  const otherwise = lines.find(({ line }) => line === PUBLIC_LINE) ?? lines[0]
  return (lines.find(mayJoin) ?? otherwise)?.line ?? PUBLIC_LINE
}

/** The access of a line; of the first line, where this one was removed. */
export function accessOf({ lines }: Policy, line: string): LineAccess {
  const found = lines.find((known) => known.line === line) ?? lines[0]
  if (!found) throw new Error('a sale has no line')
  return found.access
}

export const ASK: Decision = { action: 'ask', rule: null }

interface Compiled {
  readonly isBlocked: (applicant: Applicant) => boolean
  readonly rules: readonly (Decision & { readonly meets: (applicant: Applicant) => boolean })[]
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

function blockTest(blocks: Policy['blocks']): (applicant: Applicant) => boolean {
  const listed = (of: 'visitor' | 'account') => new Set(blocks.flatMap((block) => block[of] ?? []))
  const [visitors, accounts] = [listed('visitor'), listed('account')]
  const ranges = blocks.flatMap(({ address }) => (address === undefined ? [] : [rangeTest(address)]))
  return ({ visitor, session, address }) =>
    visitors.has(visitor) ||
    (session !== null && accounts.has(session.account)) ||
    ranges.some((contains) => contains(address))
}

/** Compiles a rule's conditions once, before the first caller. All must hold. */
function test({ address, asn, country, user_agent, claim, line }: When): (applicant: Applicant) => boolean {
  const tests: ((applicant: Applicant) => boolean)[] = []
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
  if (line !== undefined) tests.push((applicant) => applicant.line === line)
  return (applicant) => tests.every((meets) => meets(applicant))
}

/** A claim may be a list, such as groups. */
const hasValue = (claim: unknown, value: unknown) => (Array.isArray(claim) ? claim.includes(value) : claim === value)
