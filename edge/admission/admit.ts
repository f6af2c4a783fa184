/**
 * The checks before somebody gets a place, in the order in which they cost: who is blocked or meets a rule, who must sign in,
 * who needs an invitation, and who must solve a proof of work or pass Turnstile.
 */
import * as v from 'valibot'
import {
  ACCOUNT_PREFIX,
  type JoinRequest,
  type LineAccess,
  MAX_DIFFICULTY,
  type Policy,
  PUBLIC_LINE,
} from '../../shared/api/access.ts'
import { SaleId } from '../../shared/api/public.ts'
import { invalidField, ProblemError, problemIn } from '../../shared/problem.ts'
import { isDrawn } from '../../shared/schedule.ts'
import { isEdgeToken } from '../../shared/tokens.ts'
import { type Call, refuse } from '../call.ts'
import { count, type SaleNow, saleNow } from '../queue/sale-cache.ts'
import { claimsIn } from '../visitor/credentials.ts'
import { sessionOf, signInUrl } from '../visitor/session.ts'
import { visitorOf } from '../visitor/visitor.ts'
import { networksOf } from './limits/networks.ts'
import { NetworkShares, USUAL_DIFFICULTY } from './proofs/difficulty.ts'
import { presentedInvitation } from './proofs/invitation.ts'
import { type Asking, decide } from './rules.ts'

/** What joining still requires after the checks. */
interface Admitted {
  /** The least difficulty of a proof of work; 0 for none. */
  readonly difficulty: number
  /** True where Turnstile's widget has to be passed as well. */
  readonly turnstile: boolean
  /** True for a join that needs its invitation redeemed, once it is certain for whom. */
  readonly byInvitation: boolean
}

/** Throws `refused`, `sign-in-required`, `not-open` or `invitation-required`. */
export async function requireAccess(sale: string, visitor: string, now: SaleNow, call: Call): Promise<Admitted> {
  if (isOpen(now.policy)) return proofsOf(accessOf(now.policy, now.line), false, call)
  const asking = await askingOf(visitor, now.line, call)
  const { action, rule } = decide(now.policy, asking)
  if (rule !== null) count(sale, { met: { [rule]: 1 } }, call)
  if (action === 'blocked' || action === 'refuse') refuse('refused')
  const access = accessOf(now.policy, asking.line)
  if (access.sign_in === 'required' && !asking.session) refuseSignIn(sale, call)
  if (action === 'last' && !isDrawn(now.schedule)) refuseLast(now)
  const byInvitation = access.invitation === 'required'
  // A visitor without an invitation is refused before they solve or wait for anything.
  if (byInvitation) await presentedInvitation(call)
  if (action === 'allow') return { difficulty: 0, turnstile: false, byInvitation }
  return proofsOf(access, action === 'prove', call)
}

const proofsOf = (access: LineAccess, isRuled: boolean, call: Call): Admitted => ({
  difficulty: leastDifficulty(access, isRuled, call),
  turnstile: access.turnstile && call.config.turnstile !== null,
  byInvitation: access.invitation === 'required',
})

/** True where it does not matter who asks: what is known of a caller takes time to read. */
function isOpen({ rules, blocks, lines }: Policy): boolean {
  const [only, ...others] = lines
  if (!only || rules.length + blocks.length + others.length > 0) return false
  return only.access.sign_in === 'optional' && only.access.invitation === 'off'
}

/**
 * The line that a newcomer joins: the one they want, or else the first whose access they meet, in the order of the sale's list.
 * A newcomer who meets none is refused as the public line refuses. Throws `invalid-fields` for an unknown line.
 */
export async function bestLine(
  policy: Policy,
  visitor: string,
  wanted: Pick<JoinRequest, 'line' | 'invitation'>,
  call: Call,
): Promise<string> {
  const { lines } = policy
  const names = lines.map(({ line }) => line)
  if (wanted.line !== undefined && !names.includes(wanted.line))
    throw new ProblemError(invalidField('line', `one of ${names.join(', ')}`))
  if (wanted.line !== undefined) return wanted.line
  const [first = PUBLIC_LINE] = names
  const otherwise = names.includes(PUBLIC_LINE) ? PUBLIC_LINE : first
  if (names.length < 2) return otherwise
  const asking = await askingOf(visitor, PUBLIC_LINE, call)
  const mayJoin = ({ line, access }: Policy['lines'][number]) => {
    const { action } = decide(policy, { ...asking, line })
    if (action === 'blocked' || action === 'refuse') return false
    if (access.sign_in === 'required' && !asking.session) return false
    return access.invitation === 'off' || wanted.invitation !== undefined
  }
  return lines.find(mayJoin)?.line ?? otherwise
}

const shares = new NetworkShares()
/** For visitors who need no proof, on a page that is the same for all and whose widget makes one. */
const TRIFLING = 1

/** The difficulty of the challenge for a newcomer; 0 where the sale asks for no proof. Counts what networks ask for. */
export async function challengeDifficulty(sale: string, visitor: string, now: SaleNow, call: Call): Promise<number> {
  const asking = await askingOf(visitor, now.line, call)
  const { action } = decide(now.policy, asking)
  const access = accessOf(now.policy, asking.line)
  const least = leastDifficulty(access, action === 'prove', call)
  if (action === 'allow' || least === 0) return asksForProof(now.policy, call) ? TRIFLING : 0
  if (access.proof_of_work !== 'auto' && action !== 'prove') return least
  return Math.min(MAX_DIFFICULTY, Math.round(least * shares.take(sale, networksOf(asking.address), call.nowMs)))
}

/** True where a line asks for a proof: a page that is the same for all then has the way to make one. */
export const asksForProof = ({ lines }: Policy, call: Call) =>
  lines.some(({ access }) => leastDifficulty(access, false, call) > 0)

/** Throws `refused` for a visitor who was blocked after they got their place. */
export async function refuseBlocked(visitor: string, policy: Policy, call: Call): Promise<void> {
  if (policy.blocks.length === 0) return
  if (decide(policy, await askingOf(visitor, PUBLIC_LINE, call)).action === 'blocked') refuse('refused')
}

/**
 * The same for a call that needs nothing else of the sale. It continues while the line's objects are away: the origin checks
 * blocks too, though not by address.
 */
export async function refuseBlockedIn(sale: string, visitor: string, call: Call): Promise<void> {
  let now: SaleNow
  try {
    now = await saleNow(sale, call)
  } catch (error) {
    problemIn(error)
    return
  }
  await refuseBlocked(visitor, now.policy, call)
}

/** The same for calls with a token of a visitor's or of an order's, which names no visitor: their cookie or session may. */
export async function refuseBlockedHolder(token: string, call: Call): Promise<void> {
  const { sub, sale } = claimsIn(token)
  if (!v.is(SaleId, sale)) return
  const visitor = isEdgeToken(token) ? sub : (await visitorOf(null, call)).name
  await refuseBlockedIn(sale, visitor ?? '', call)
}

async function askingOf(visitor: string, line: string, call: Call): Promise<Asking> {
  const { headers, cf } = call.request
  const session = await sessionOf(call)
  const { asn, country } = Object(cf) as { asn?: number; country?: string }
  return {
    address: headers.get(call.config.ADDRESS_HEADER) ?? '',
    asn: asn ?? null,
    country: country ?? null,
    userAgent: headers.get('user-agent') ?? '',
    visitor,
    session: session ?? accountIn(visitor),
    line,
  }
}

/** The account in a visitor's name, without the claims of a session. */
const accountIn = (visitor: string) =>
  visitor.startsWith(ACCOUNT_PREFIX) ? { account: visitor.slice(ACCOUNT_PREFIX.length), claims: {} } : null

/** The access of a line; of the first line, where this one was removed. */
export function accessOf({ lines }: Policy, line: string): LineAccess {
  const found = lines.find((one) => one.line === line) ?? lines[0]
  if (!found) throw new Error('a sale has no line')
  return found.access
}

function leastDifficulty({ proof_of_work }: LineAccess, isRuled: boolean, { config }: Call): number {
  const asked = proof_of_work === 'off' ? 0 : proof_of_work === 'auto' ? USUAL_DIFFICULTY : proof_of_work
  return Math.max(config.POW_DIFFICULTY, asked, isRuled ? USUAL_DIFFICULTY : 0)
}

function refuseSignIn(sale: string, call: Call): never {
  return refuse('sign-in-required', { sign_in_url: signInUrl(sale, call) })
}

/** Refuses a place at the end of the line before the draw: until then the line has no end. */
function refuseLast({ schedule, atMs }: SaleNow): never {
  const { opens_at, anchor_at_ms } = schedule
  const detail = 'You can join once the sale is open, at the end of the line.'
  return refuse('not-open', { opens_at, detail, retry_after_seconds: Math.max(1, (anchor_at_ms - atMs) / 1000) })
}
