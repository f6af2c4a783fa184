/** Makes the sale and the actors of an order of events from its seed. Pure. */
import { randomFrom } from '../decisions.ts'
import { type Actor, EVENTS, OPERATIONS, type Wants } from './actors.ts'
import type { Method } from './bank.ts'
import type { Round } from './members.ts'

export interface SaleTerms {
  readonly total: number
  readonly limit: number
  readonly holdSeconds: number
  readonly hasReplica: boolean
  readonly has: 'units' | 'codes' | 'seats'
}

const chanceOf = (seed: number) => {
  const random = randomFrom(seed)
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const several = <T>(most: number, make: () => T): T[] => Array.from({ length: upTo(most) }, make)
  return { random, upTo, oneOf, several }
}

export function termsFrom(seed: number): SaleTerms {
  const { upTo, oneOf, random } = chanceOf(seed ^ 0x1234567)
  return {
    total: 1 + upTo(2),
    limit: 1 + upTo(2),
    holdSeconds: 10,
    hasReplica: random() < 0.3,
    has: oneOf(['units', 'units', 'codes', 'seats']),
  }
}

const CHECKOUT_ROUNDS: readonly Round[] = [
  ...([
    'records intents',
    'records intents',
    'sweeps the holds of the gate',
    'sweeps the holds of the ledger',
  ] as const),
  ...(['watches the gate', 'reconciles'] as const),
]
const PAYMENT_ROUNDS: readonly Round[] = [
  ...([
    'runs jobs',
    'runs jobs',
    'runs jobs',
    'begins payments',
    'ends abandoned charges',
    'compares charges',
  ] as const),
  'resumes what is forgotten',
]
const WAITS = [300, 2_100, 2_100, 6_000, 11_000, 31_000]
const WANTS: Readonly<Record<SaleTerms['has'], readonly Wants[]>> = {
  units: ['one', 'one', 'one', 'both'],
  codes: ['one', 'with a code', 'with a code'],
  seats: ['a seat', 'a choice of seats', 'one'],
}

export function actorsFrom(seed: number, only?: 'checkout' | 'payments'): Actor[] {
  const { upTo, oneOf, several, random } = chanceOf(seed ^ 0x7654321)
  const { has } = termsFrom(seed)
  const paysOften = only === 'payments' || (only === undefined && random() < 0.5)
  const method = (): Method | null => {
    if (!paysOften) return null
    return oneOf(['ok', 'ok', 'declined', '3ds', null])
  }
  const buyer = (name: string): Actor => ({
    does: 'buys',
    name,
    key: oneOf(['k1', 'k1', 'k2']),
    at: oneOf(['api 1', 'api 2']),
    wants: oneOf(WANTS[has]),
    units: 1 + Math.max(0, upTo(4) - 2),
    method: method(),
    after: paysOften ? oneOf(['pays', 'pays', 'leaves', 'gives back']) : oneOf(['leaves', 'leaves', 'gives back']),
  })
  const names = ['ann', 'bob', 'cid', 'dee'].slice(0, 2 + upTo(2))
  const first = names.map(buyer)
  // The same buyer in a second tab, with the same key or another one; the same key asks for the same.
  const tabs = several(3, () => {
    const again = oneOf(first)
    if (again.does !== 'buys') return again
    return { ...again, at: oneOf(['api 1', 'api 2']), key: oneOf([again.key, again.key, 'k3']) }
  })
  const rounds = paysOften ? [...CHECKOUT_ROUNDS, ...PAYMENT_ROUNDS, ...PAYMENT_ROUNDS] : CHECKOUT_ROUNDS
  const works = Array.from({ length: 3 + upTo(5) }, (): Actor => {
    return { does: 'works', round: oneOf(rounds), at: oneOf(['worker 1', 'worker 2']) }
  })
  const operates = several(paysOften ? 2 : 1, (): Actor => {
    return { does: 'operates', what: oneOf(OPERATIONS), at: oneOf(['api 1', 'worker 1']) }
  })
  const happens = random() < 0.6 ? [] : several(3, (): Actor => ({ does: 'happens', what: oneOf(EVENTS) }))
  const waits = several(4, (): Actor => ({ does: 'waits', ms: oneOf(WAITS) }))
  return [...first, ...tabs, ...works, ...operates, ...happens, ...waits]
}
