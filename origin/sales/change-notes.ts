/**
 * The notes in Redis of changes that operators make while the ledger is away. Each process that serves reads them
 * twice a second and shows the sales with them; a worker writes them to the ledger once it is back.
 */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { tryParseJson } from '../../shared/parse.ts'
import { ProblemError } from '../../shared/problem.ts'
import type { Audited } from '../ledger/audit.ts'
import { isLedgerAway, type Queryable, type Sql } from '../ledger/connection.ts'
import { tryAgain } from '../lib/http/request.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import { TimeoutError, withTimeout } from '../lib/with-timeout.ts'
import { inOrder, isOverridden, type LoggedChange, type NewChange, NotedChange, repeated } from './noted-changes.ts'
import { lockSale, pauseSale, switches } from './sale-queries.ts'
import { LEDGER_TIMEOUT_MS, type Sales } from './sales.ts'

const KEY = 'changes noted without the ledger'
/** Operators do not make as many changes by hand while a ledger is away. */
const MAX_NOTES = 500
const READ_EVERY_MS = 500
const REDIS_TIMEOUT_MS = 500

type Notes = Pick<Redis, 'rpush' | 'llen' | 'lrange' | 'lrem'>
interface ChangeNotesDeps extends LoopDeps {
  readonly redis: Notes
  readonly sales: Pick<Sales, 'nowMs' | 'canRecord' | 'refresh' | 'showNoted' | 'noted'>
}

/** A change is in the ledger, or in a note until the ledger takes it. */
type Made<T> = { readonly written: T } | { readonly noted: NotedChange }

export class ChangeNotes {
  readonly #deps: ChangeNotesDeps
  readonly actor: Actor
  /** The latest reading. Each follows the one before, so that none shows what is older. */
  #reading: Promise<void> = Promise.resolve()

  constructor(deps: ChangeNotesDeps) {
    this.#deps = deps
    this.actor = loop('change notes', READ_EVERY_MS, deps, () => this.#read())
  }

  /**
   * Has the ledger write a change, or notes it: while the ledger takes none, and while it does not have an earlier one
   * of the sale yet. If the ledger went away a moment ago it may have written the change: the note has the same key,
   * so that it is written once. Throws `try-again` if neither store takes it.
   */
  async make<T>(change: NewChange, write: (audited: Pick<Audited, 'key'>) => Promise<T>): Promise<Made<T>> {
    const { sales, runtime } = this.#deps
    const key = randomUUID()
    const isFirst = !sales.noted().some(({ sale }) => sale === change.sale)
    if (sales.canRecord() && isFirst)
      try {
        return { written: await withTimeout(write({ key }), LEDGER_TIMEOUT_MS, runtime) }
      } catch (error) {
        if (!(error instanceof TimeoutError) && !isLedgerAway(error as Error)) throw error
      }
    return { noted: repeated(change, sales.noted()) ?? (await this.#add({ ...change, id: key })) }
  }

  /** Notes a change, which this process shows from now on. */
  async #add(change: NewChange & Pick<NotedChange, 'id'>): Promise<NotedChange> {
    const { redis, sales, runtime } = this.#deps
    const noted = { ...change, at_ms: sales.nowMs() } as NotedChange
    const write = async () => {
      if ((await redis.llen(KEY)) >= MAX_NOTES) throw new Error('too many notes')
      await redis.rpush(KEY, JSON.stringify(noted))
      await this.#read()
    }
    await withTimeout(write(), REDIS_TIMEOUT_MS, runtime).catch(() => {
      throw new ProblemError(tryAgain('Neither store takes changes.'))
    })
    return noted
  }

  #read(): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#readOnce())
    return this.#reading
  }

  async #readOnce(): Promise<void> {
    const { redis, sales, runtime } = this.#deps
    const noted = (await withTimeout(readNotes(redis), REDIS_TIMEOUT_MS, runtime)).map(({ change }) => change)
    const isAnyWritten = sales.noted().some(({ id }) => !noted.some((one) => one.id === id))
    // What the ledger has by now is read from there before the note is no longer shown.
    if (isAnyWritten) await sales.refresh()
    sales.showNoted(inOrder(noted))
  }
}

async function readNotes(redis: Notes) {
  const texts = await redis.lrange(KEY, 0, MAX_NOTES - 1)
  return texts.flatMap((text) => {
    const change = tryParseJson(NotedChange, text)
    return change ? [{ text, change }] : []
  })
}

/** Publishes a noted announcement as an urgent post, which is over already if `isOver`. */
export type AnnounceNoted = (
  tx: Queryable,
  saleId: string,
  post: Pick<NotedChange & { action: 'announce' }, 'level' | 'text' | 'until'>,
  operator: string,
  noted: Audited & { readonly isOver: boolean },
) => Promise<unknown>

interface WriterDeps extends Pick<LoopDeps, 'log'> {
  readonly redis: Notes
  readonly sql: Sql
  /** Omitted if the shop has no feed. */
  readonly announce?: AnnounceNoted | undefined
}

/** Writes the noted changes to the ledger, each once and in the order of their times. Fails while it is away. */
export async function writeNotedChanges({ redis, sql, announce, log }: WriterDeps): Promise<void> {
  const notes = await readNotes(redis)
  const textOf = new Map(notes.map(({ text, change }) => [change, text]))
  for (const change of inOrder([...textOf.keys()])) {
    await sql.begin((tx) => writeChange(tx, change, announce))
    await redis.lrem(KEY, 1, textOf.get(change) as string)
    log.info({ sale: change.sale, action: change.action, operator: change.operator }, 'noted change recorded')
  }
}

async function writeChange(tx: Queryable, change: NotedChange, announce?: AnnounceNoted): Promise<void> {
  const { id, sale: saleId, operator, at_ms } = change
  // The lock lets a second worker with the same note see the first one's entry.
  const { sale } = await lockSale(tx, saleId)
  if (!sale) return
  const logged = await tx<(LoggedChange & { key: string | null })[]>`
    select action, at, idempotency_key as key from audit_log
    where sale_id = ${saleId} and (idempotency_key = ${id} or at > ${new Date(at_ms)})`
  if (logged.some(({ key }) => key === id)) return
  const isOver = isOverridden(change, logged) || sale.ended_at !== null
  const noted = { at: new Date(at_ms), key: id, isOver }
  switch (change.action) {
    case 'pause':
      return pauseSale(tx, saleId, change.reason ?? null, operator, noted)
    case 'resume':
      return switches.resume(tx, saleId, operator, noted)
    case 'announce':
      await announce?.(tx, saleId, change, operator, noted)
  }
}
