/**
 * The payment provider of the explored world: it keeps every charge, and what it says is what happened. Its answers
 * may be late, lost, or twice; a payment method says what becomes of a charge.
 */
import type {
  Captured,
  ChargeRecord,
  PaymentProvider,
  ProviderRefund,
  Returns,
} from '../../../origin/providers/provider.ts'
import { authorizeResult, capturedOf } from '../../../origin/providers/provider.ts'
import type { Fate, Process, Scheduler } from '../scheduler.ts'

/**
 * 3ds: its buyer has to authenticate it at their bank, and 3ds-away: they never come back from there. declined-first:
 * a decline, and the same charge is authorized later.
 */
export type Method = 'ok' | 'declined' | 'declined-first' | '3ds' | '3ds-away'

export interface Charge {
  readonly charge: string
  readonly order: string
  readonly attempt: number
  readonly amountMinor: number
  readonly currency: string
  status: 'authorized' | 'requires_action' | 'declined' | 'captured' | 'cancelled'
  takenMinor: number
  /** With the ids of those of before that had been read by the process that asked for it. */
  readonly refunds: (ProviderRefund & { readonly key: string; readonly after: readonly string[] })[]
}

const BY_HAND_MINOR = 50
export const BY_HAND = 'by hand'
export const ACCEPTS_LATER = 'authorizes a declined charge after all'
const CARD = { brand: 'visa', last4: '4242' }
const CALL: readonly Fate[] = ['done', 'held', 'late', 'slow', 'lost', 'failed', 'delayed', 'dies', 'dies after']

export class Bank {
  readonly charges = new Map<string, Charge>()
  /** The orders whose charge it was asked for. */
  readonly asked = new Set<string>()
  readonly #log: ChargeRecord[] = []
  readonly #scheduler: Scheduler
  /** Receives what is reported of a charge. */
  readonly #report: (record: ChargeRecord) => Promise<void>

  constructor(scheduler: Scheduler, report: (record: ChargeRecord) => Promise<void>) {
    this.#scheduler = scheduler
    this.#report = report
  }

  /** A webhook for each change, which comes whenever it does, once, twice or never. */
  #changed(charge: Charge): void {
    const record = recordOf(charge)
    this.#log.push(record)
    this.#scheduler.add({
      owner: undefined,
      name: 'the provider',
      what: `reports a charge as ${record.status}`,
      fates: ['done', 'twice', 'failed', 'held long'],
      go: async (fate) => {
        if (fate === 'failed') return
        void this.#report(record).catch(() => {})
        if (fate === 'twice') void this.#report(record).catch(() => {})
      },
    })
  }

  #authorize(order: string, attempt: number, amountMinor: number, currency: string, method: string): Charge {
    const known = [...this.charges.values()].find((one) => one.order === order && one.attempt === attempt)
    if (known) return known
    const status = method.startsWith('declined')
      ? 'declined'
      : method.startsWith('3ds')
        ? 'requires_action'
        : 'authorized'
    const charge: Charge = {
      charge: `ch_${this.charges.size + 1}`,
      ...{ order, attempt, amountMinor, currency, status, takenMinor: 0, refunds: [] },
    }
    this.charges.set(charge.charge, charge)
    this.#changed(charge)
    if (method === '3ds') this.#askBuyer(charge)
    if (method === 'declined-first') this.#acceptLater(charge)
    return charge
  }

  /** The buyer at their bank: authenticates (done), or fails to (lost). */
  #askBuyer(charge: Charge): void {
    this.#scheduler.add({
      owner: undefined,
      name: 'the bank of a buyer',
      what: 'asks the buyer to authenticate',
      fates: ['done', 'lost'],
      go: async (fate) => {
        if (charge.status !== 'requires_action') return
        charge.status = fate === 'done' ? 'authorized' : 'declined'
        this.#changed(charge)
      },
    })
  }

  #acceptLater(charge: Charge): void {
    this.#scheduler.add({
      owner: undefined,
      name: 'the bank of a buyer',
      what: ACCEPTS_LATER,
      fates: ['done', 'lost', 'held long'],
      go: async (fate) => {
        if (fate === 'lost' || charge.status !== 'declined') return
        charge.status = 'authorized'
        this.#changed(charge)
      },
    })
  }

  /** A person gives a part of a charge back on the provider's own page. */
  refundByHand(): void {
    const charge = [...this.charges.values()].find((one) => one.takenMinor - returnedOf(one) > BY_HAND_MINOR)
    if (charge) this.#refund(charge.charge, BY_HAND, BY_HAND_MINOR)
  }

  #of(id: string): Charge {
    const charge = this.charges.get(id)
    if (!charge) throw new Error(`no charge ${id}`)
    return charge
  }

  #capture(id: string): Captured | null {
    const charge = this.#of(id)
    if (charge.status === 'authorized') {
      charge.status = 'captured'
      charge.takenMinor = charge.amountMinor
      this.#changed(charge)
    }
    return capturedOf(recordOf(charge))
  }

  #cancel(id: string): ChargeRecord {
    const charge = this.#of(id)
    if (charge.status === 'authorized' || charge.status === 'requires_action') {
      charge.status = 'cancelled'
      this.#changed(charge)
    }
    return recordOf(charge)
  }

  #refund(id: string, key: string, amountMinor: number | null, after: readonly string[] = []): ProviderRefund {
    const charge = this.#of(id)
    const known = charge.refunds.find((one) => one.key === key)
    if (known) return known
    const left = charge.takenMinor - returnedOf(charge)
    const amount = amountMinor ?? left
    if (amount <= 0 || amount > left) throw new Error(`${left} is left of ${id}`)
    const refund = { id: `re_${id}_${charge.refunds.length + 1}`, key, amountMinor: amount, isMade: true, after }
    charge.refunds.push(refund)
    this.#changed(charge)
    return refund
  }

  /** The provider as a process has it. */
  of(process: Process): PaymentProvider {
    const call = <Result>(what: string, work: () => Result, failure?: () => Result) =>
      process.call<Result>({
        what: `${what} at the provider`,
        fates: CALL,
        effect: async () => work(),
        failure:
          failure ??
          (() => {
            throw new Error('no answer of the provider')
          }),
      })
    const read = new Map<string, readonly string[]>()
    const changes = (since: string | null) => {
      const at = Number(since ?? 0)
      return { records: this.#log.slice(at), cursor: String(this.#log.length) }
    }
    return {
      name: 'explored',
      authorize: ({ order, attempt, amountMinor, currency, method }) =>
        call(
          'authorizes',
          () => authorizeResult(recordOf(this.#authorize(order, attempt, amountMinor, currency, method))),
          () => ({ result: 'unknown', reason: 'no answer in time' }),
        ),
      read: (charge) => call('reads a charge', () => recordOf(this.#of(charge))),
      capture: ({ charge }) => call('captures', () => this.#capture(charge)),
      cancel: (charge) => call('cancels', () => this.#cancel(charge)),
      returns: (charge) =>
        call('reads returns', (): Returns => {
          const { takenMinor, refunds } = this.#of(charge)
          read.set(
            charge,
            refunds.map(({ id }) => id),
          )
          return { takenMinor, refunds: [...refunds] }
        }),
      refund: ({ charge, key, amountMinor }) =>
        call('refunds', () => this.#refund(charge, key, amountMinor, read.get(charge))),
      find: (order) =>
        call('finds a charge', () => {
          this.asked.add(order)
          const own = [...this.charges.values()].filter((one) => one.order === order).reverse()
          const found = own.find(({ status }) => status === 'captured' || status === 'authorized') ?? own[0]
          return found && recordOf(found)
        }),
      async *changes(since) {
        const page = await call('reads changes', () => changes(since))
        if (page.records.length > 0) yield page
      },
      readWebhook: async () => null,
    }
  }
}

export const returnedOf = ({ refunds }: Charge) => refunds.reduce((sum, one) => sum + one.amountMinor, 0)

function recordOf(charge: Charge): ChargeRecord {
  const { charge: id, order, attempt, amountMinor, currency, status } = charge
  const of = { charge: id, order }
  const refundedMinor = returnedOf(charge)
  switch (status) {
    case 'authorized':
      return { ...of, status, amountMinor, currency }
    case 'captured':
      return refundedMinor === amountMinor
        ? { ...of, status: 'refunded' }
        : { ...of, status, amountMinor, currency, refundedMinor, card: CARD }
    case 'requires_action':
      return { ...of, status, attempt, action: { charge: id, url: 'https://bank.example' } }
    case 'declined':
      return { ...of, status, attempt, code: 'declined' }
    case 'cancelled':
      return { ...of, status }
  }
}
