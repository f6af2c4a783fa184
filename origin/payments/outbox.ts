/**
 * What is due, once per charge: money to be taken of an order that was confirmed (a capture), and money that no order
 * stands for to be given back (a refund). Each was written down together with the job that carries it out (jobs.ts), and
 * is open until it has happened. What is not due any more, such as a capture once its charge is to be given back, is
 * written down no longer, and its job ends quietly.
 */
import type { Logger } from 'pino'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { closeAbout, NO_SALE, note } from '../ledger/findings.ts'
import type { Metrics } from '../lib/metrics.ts'
import { DUE_ATTEMPTS, type DueJob, type DueKind, type PaymentJobs } from './jobs.ts'
import type { ChargeOf } from './provider.ts'

/** Tried in one round, of which there is one a second: money can wait, and those who want to buy come first. */
const BATCH = 32
/** What is open for so long has lost its job, which pg-boss keeps for longer than it tries. */
const FORGOTTEN_HOURS = 12

const HAPPENED = { capture: 'captured', refund: 'refunded' } as const

interface DueDeps {
  readonly sql: Sql
  readonly metrics: Metrics
  readonly log: Logger
}

export class Due {
  readonly #kind: DueKind
  /** Where it is written down, and when it has happened. */
  readonly #table: `${DueKind}s`
  readonly #at: string
  readonly #deps: DueDeps
  readonly #jobs: PaymentJobs
  readonly #carryOut: (due: ChargeOf) => Promise<boolean>

  /** `carryOut` tells the provider: false if it can never be done, and a failure if it may be tried again. */
  constructor(
    kind: DueKind,
    deps: DueDeps,
    jobs: PaymentJobs,
    carryOut: (due: ChargeOf) => Promise<boolean>,
  ) {
    this.#kind = kind
    this.#table = `${kind}s`
    this.#at = `${HAPPENED[kind]}_at`
    this.#deps = deps
    this.#jobs = jobs
    this.#carryOut = carryOut
  }

  /** Carries out some of what has been asked for. */
  async round(): Promise<void> {
    const jobs = await this.#jobs.take(this.#kind, BATCH)
    if (jobs.length === 0) return
    const open = await this.#open(jobs.map((job) => job.charge))
    const outcomes = await Promise.all(
      jobs.map((job) => (open.has(job.charge) ? this.#attempt(job) : 'not due')),
    )
    const ended = jobs.filter((_, i) => outcomes[i] !== 'failed')
    await this.happened(jobs.filter((_, i) => outcomes[i] === 'succeeded').map((job) => job.charge))
    await this.#jobs.done(this.#kind, ended)
  }

  async #open(charges: readonly string[]): Promise<Set<string>> {
    const { sql } = this.#deps
    const rows = await sql<{ charge_id: string }[]>`
      select charge_id from ${sql(this.#table)}
      where charge_id = any(${charges as string[]}::text[]) and ${sql(this.#at)} is null`
    return new Set(rows.map((row) => row.charge_id))
  }

  async #attempt(job: DueJob): Promise<'succeeded' | 'failed' | 'gone'> {
    const { log, metrics } = this.#deps
    try {
      const outcome = (await this.#carryOut(job)) ? 'succeeded' : 'gone'
      metrics[this.#table].inc({ outcome })
      if (outcome === 'gone') await this.#giveUp(job)
      return outcome
    } catch (error) {
      log.warn(
        { order: job.order, attempt: job.attempt, error: String(error) },
        `not ${HAPPENED[this.#kind]} yet`,
      )
      metrics[this.#table].inc({ outcome: 'failed' })
      const stillDue = job.attempt >= DUE_ATTEMPTS && (await this.#open([job.charge])).size > 0
      if (stillDue) await this.#tellSomebody(this.#deps.sql, job, String(error))
      await this.#jobs.failed(this.#kind, job, String(error))
      return 'failed'
    }
  }

  /** It can never be done. Where it is not due any more either, that is as it should be; otherwise a person decides. */
  async #giveUp(due: ChargeOf): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      const { count } = await tx`
        delete from ${tx(this.#table)} where charge_id = ${due.charge} and ${tx(this.#at)} is null`
      if (count > 0) await this.#tellSomebody(tx, due, 'nothing is authorized any more')
    })
  }

  /** Writes down what has happened, whoever did it; most of what is told here is known already. */
  async happened(charges: readonly string[]): Promise<void> {
    if (charges.length === 0) return
    const { sql } = this.#deps
    // Taken in order: the answer and the webhook come at the same time, often with the same charges.
    await sql`
      update ${sql(this.#table)} set ${sql(this.#at)} = clock_timestamp()
      where charge_id in (
        select charge_id from ${sql(this.#table)}
        where charge_id = any(${charges as string[]}::text[]) and ${sql(this.#at)} is null
        order by charge_id for update)`
    await closeAbout(sql, `${this.#kind}_failed`, charges, `${HAPPENED[this.#kind]} after all`)
  }

  async #tellSomebody(tx: Queryable, { charge, order: id }: ChargeOf, error: string): Promise<void> {
    const [order] = await tx<{ sale_id: string; product_id: string }[]>`
      select sale_id, product_id from orders where order_id = ${id}`
    const sale = order?.sale_id ?? NO_SALE
    const about = {
      sale,
      product: order?.product_id ?? '',
      kind: `${this.#kind}_failed`,
      subject: charge,
    } as const
    await note(tx, { ...about, units: 0, detail: { order: id, error } })
    this.#deps.metrics.findings.inc({ sale, kind: about.kind })
  }

  /** What is due and nobody seems to be working on is asked for again. */
  async resume(): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      const forgotten = await tx<ChargeOf[]>`
        update ${tx(this.#table)} set asked_at = clock_timestamp()
        where charge_id in (
          select charge_id from ${tx(this.#table)}
          where ${tx(this.#at)} is null and asked_at < now() - ${FORGOTTEN_HOURS} * interval '1 hour'
          limit ${BATCH} for update skip locked)
        returning charge_id as charge, order_id as "order"`
      await this.#jobs.add(tx, this.#kind, forgotten)
    })
  }

  /**
   * News that these have happened, which may be older than what is known: what is open is asked for again at once, and the
   * provider says what stands.
   */
  async lookAgain(charges: readonly string[]): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      const open = await tx<ChargeOf[]>`
        update ${tx(this.#table)} set asked_at = clock_timestamp()
        where charge_id in (
          select charge_id from ${tx(this.#table)}
          where charge_id = any(${charges as string[]}::text[]) and ${tx(this.#at)} is null
          order by charge_id for update)
        returning charge_id as charge, order_id as "order"`
      await this.#jobs.add(tx, this.#kind, open)
    })
  }

  /** What had happened was undone by the buyer's bank: it is due again, and how it can be done is for a person to find out. */
  async undone({ charge }: ChargeOf): Promise<void> {
    const { sql, metrics } = this.#deps
    const [due] = await sql<ChargeOf[]>`
      update ${sql(this.#table)} set ${sql(this.#at)} = null, asked_at = clock_timestamp()
      where charge_id = ${charge} and ${sql(this.#at)} is not null
      returning charge_id as charge, order_id as "order"`
    if (!due) return
    metrics[this.#table].inc({ outcome: 'failed' })
    await this.#tellSomebody(sql, due, 'the bank sent it back')
  }
}
