/**
 * How many places each section has left, as server-sent events to those whose turn it is. Every process reads the
 * sales four times a second anyway: it compares each reading with the one before, and writes what differs to its own
 * listeners, one text for all of them. Nothing travels between processes. An id names the state of all sections, by
 * the versions of their rows in the ledger, so that each process understands those of the others.
 */
import type { ServerResponse } from 'node:http'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import type { SectionUpdate } from '../../shared/api/hall.ts'
import { hashOf } from '../../shared/lib/hash.ts'
import { problem } from '../../shared/problem.ts'
import { VisitorCalls } from '../access/visitor-calls.ts'
import type { Metrics } from '../base/metrics.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import {
  beginStream,
  EventStreams,
  HEARTBEAT,
  HEARTBEAT_MS,
  responseOf,
  withoutStream,
} from '../lib/http/event-stream.ts'
import { refuse } from '../lib/http/request.ts'
import { available } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import { sectionsIn } from '../seats/chart-document.ts'

/** Open streams in one process; more clients get a "try again" and read the sections instead. */
const MAX_LISTENERS = 20_000
/** The open streams of one visitor, enough for a few tabs. */
const MAX_LISTENERS_OF_VISITOR = 5
/** The time between two events of a section. */
const EVERY_MS = 500
/** A reader with more than this unread is dropped; it connects again and gets what it missed. */
const MAX_UNREAD_BYTES = 64 * 1024
/** Listeners written to before other work has its turn: some milliseconds. */
const SLICE = 250
/** A sale without listeners is watched for so long, so that whoever reconnects gets only what has changed. */
const WATCHED_FOR_MS = 10 * 60_000

interface UpdatesDeps {
  readonly sales: Pick<Sales, 'get' | 'onRead' | 'readAgoMs' | 'nowMs'>
  readonly metrics: Pick<Metrics, 'sectionUpdateSeconds' | 'streamListeners' | 'listenersDropped'>
}

interface Listener {
  readonly response: ServerResponse
  readonly untilMs: number
}

interface Section {
  /** The version of the section's row. */
  version: number
  available: number
  /** What listeners know; null until they know of it. */
  sent: number | null
  /** The revision at which its row last changed. */
  changedAt: number
}

/** A sale that has, or had, listeners. */
interface Watched {
  readonly saleId: string
  readonly listeners: Set<Listener>
  sections: Map<string, Section>
  /** Names the set of sections: revisions of another one mean nothing. */
  epoch: string
  /** Grows with each change of a section: the sum of their versions. */
  revision: number
  /** What was known when the sale began to be watched, or its sections became others. */
  firstRevision: number
  /** The revision of which listeners know at least all. */
  sentRevision: number
  /** A moment before the first change that is not sent yet; null without one. */
  pendingSinceMs: number | null
  sentAtMs: number
  idleSinceMs: number
  isSending: boolean
  timer: NodeJS.Timeout | undefined
  /** For those who come; null once it is out of date. */
  snapshot: string | null
}

export class SectionUpdates {
  readonly #deps: UpdatesDeps
  readonly #streams: EventStreams
  readonly #watched = new Map<string, Watched>()
  readonly #ofVisitors = new VisitorCalls(MAX_LISTENERS_OF_VISITOR)
  #lastReadMs = performance.now()
  #stopReading: (() => void) | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #stopped = false

  constructor(deps: UpdatesDeps, maxListeners = MAX_LISTENERS) {
    this.#deps = deps
    this.#streams = new EventStreams(
      maxListeners,
      (open) => deps.metrics.streamListeners.set({ stream: 'sections' }, open),
      'Read the sections instead.',
    )
  }

  start(): void {
    this.#stopReading = this.#deps.sales.onRead(() => this.#compareAll())
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS)
  }

  /** Ends all streams; their clients connect to another process. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopReading?.()
    clearInterval(this.#heartbeat)
    for (const watched of [...this.#watched.values()]) this.#forget(watched)
  }

  /**
   * Streams the sections of a sale to a visitor: all first, or those that changed since the event that they saw last.
   */
  stream(c: Context, sale: SaleRow, visitor: string): Response {
    if (sale.section_versions === null) refuse(problem('not-found'))
    const leave = this.#enter(visitor)
    const response = responseOf(c)
    if (!response) {
      leave()
      return withoutStream(c)
    }
    const watched = this.#watchedOf(sale)
    // The stream ends with its connection: framing each text as a chunk took a quarter of the time of a write.
    response.removeHeader('transfer-encoding')
    const { first, untilMs } = beginStream(response)
    const listener: Listener = { response, untilMs }
    watched.listeners.add(listener)
    response.once('close', () => {
      watched.listeners.delete(listener)
      watched.idleSinceMs = performance.now()
      leave()
    })
    // The first event counts too: the next one of any section comes no sooner than usual.
    if (watched.pendingSinceMs === null) watched.sentAtMs = performance.now()
    response.write(first + (this.#missedSince(watched, c.req.header('last-event-id')) ?? this.#snapshotOf(watched)))
    return RESPONSE_ALREADY_SENT
  }

  /** Counts a stream of a visitor, and returns what ends it. */
  #enter(visitor: string): () => void {
    if (this.#stopped) this.#streams.refuse()
    this.#streams.enter()
    if (!this.#ofVisitors.enter(visitor)) {
      this.#streams.leave()
      this.#streams.refuse()
    }
    return () => {
      this.#ofVisitors.leave(visitor)
      this.#streams.leave()
    }
  }

  // -- What has changed ----------------------------------------------------------------------------------------------

  #watchedOf(sale: SaleRow): Watched {
    const known = this.#watched.get(sale.sale_id)
    if (known) return known
    const made: Watched = {
      saleId: sale.sale_id,
      listeners: new Set(),
      sections: new Map(),
      epoch: '',
      revision: 0,
      firstRevision: 0,
      sentRevision: 0,
      pendingSinceMs: null,
      sentAtMs: Number.NEGATIVE_INFINITY,
      idleSinceMs: performance.now(),
      isSending: false,
      timer: undefined,
      snapshot: null,
    }
    this.#watched.set(sale.sale_id, made)
    compare(made, sale, performance.now())
    // There are no listeners yet, and new listeners get the current numbers, so these count as sent.
    for (const section of made.sections.values()) section.sent = section.available
    made.sentRevision = made.revision
    made.pendingSinceMs = null
    return made
  }

  /** Changes in this reading came after the one before. */
  #compareAll(): void {
    const { sales } = this.#deps
    const beforeMs = this.#lastReadMs
    this.#lastReadMs = performance.now() - sales.readAgoMs()
    for (const watched of [...this.#watched.values()]) {
      const sale = sales.get(watched.saleId)
      const isIdle = watched.listeners.size === 0 && performance.now() - watched.idleSinceMs > WATCHED_FOR_MS
      if (!sale || isIdle) this.#forget(watched)
      else {
        compare(watched, sale, beforeMs)
        this.#sendSoon(watched)
      }
    }
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched.saleId)
    clearTimeout(watched.timer)
    for (const { response } of watched.listeners) response.end()
  }

  // -- What is sent --------------------------------------------------------------------------------------------------

  /** The sections that changed after the event with this id, as listeners know them; null if that cannot be said. */
  #missedSince(watched: Watched, lastEventId = ''): string | null {
    const [, epoch, text] = /^(\w{1,8})\.(\d{1,15})(?:\.\d{1,6})?$/.exec(lastEventId) ?? []
    const seen = Number(text)
    if (epoch !== watched.epoch || !(seen >= watched.firstRevision && seen <= watched.revision)) return null
    const missed = [...watched.sections].filter(([, { changedAt }]) => changedAt > seen)
    return this.#eventsOf(watched, missed, seen)
  }

  #snapshotOf(watched: Watched): string {
    watched.snapshot ??= this.#eventsOf(watched, [...watched.sections], 0)
    return watched.snapshot
  }

  /**
   * The last event alone has the id of the whole batch: a client that lost the connection halfway resumes from its
   * earlier id.
   */
  #eventsOf({ epoch, sentRevision }: Watched, sections: readonly [string, Section][], base: number): string {
    const timestamp = new Date(this.#deps.sales.nowMs()).toISOString()
    const told = sections.flatMap(([section_id, { sent }]) => (sent === null ? [] : [{ section_id, sent }]))
    const events = told.map(({ section_id, sent }, i) => {
      const id = i === told.length - 1 ? `${epoch}.${sentRevision}` : `${epoch}.${base}.${i + 1}`
      const data: SectionUpdate = { section_id, available_seats: sent, timestamp }
      return `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`
    })
    return events.join('')
  }

  #sendSoon(watched: Watched): void {
    if (watched.pendingSinceMs === null || watched.timer || watched.isSending || this.#stopped) return
    const inMs = Math.max(0, watched.sentAtMs + EVERY_MS - performance.now())
    watched.timer = setTimeout(() => {
      watched.timer = undefined
      void this.#send(watched)
    }, inMs)
  }

  async #send(watched: Watched): Promise<void> {
    const { pendingSinceMs, sentRevision: base } = watched
    const changed = [...watched.sections].filter(([, { available, sent }]) => available !== sent)
    for (const [, section] of changed) section.sent = section.available
    watched.sentRevision = watched.revision
    watched.pendingSinceMs = null
    watched.sentAtMs = performance.now()
    watched.snapshot = null
    const text = this.#eventsOf(watched, changed, base)
    if (text !== '') await this.#write(watched, Buffer.from(text), pendingSinceMs)
    this.#sendSoon(watched)
  }

  #beat(): void {
    for (const watched of this.#watched.values())
      if (!watched.isSending) void this.#write(watched, Buffer.from(HEARTBEAT), null)
  }

  /** One text to all who listen, a slice after the other: none is overtaken by the next text. */
  async #write(watched: Watched, bytes: Buffer, sinceMs: number | null): Promise<void> {
    watched.isSending = true
    let written = 0
    for (const { response, untilMs } of [...watched.listeners]) {
      if (++written % SLICE === 0) await yieldTurn()
      if (response.destroyed || response.writableEnded) continue
      if (response.writableLength > MAX_UNREAD_BYTES) {
        response.destroy()
        this.#deps.metrics.listenersDropped.inc({ stream: 'sections' })
      } else if (performance.now() > untilMs) response.end()
      else {
        response.write(bytes)
        if (sinceMs !== null) this.#deps.metrics.sectionUpdateSeconds.observe((performance.now() - sinceMs) / 1000)
      }
    }
    watched.isSending = false
  }
}

/** Notes what a reading of the sale changes. `beforeMs`: a moment before these changes. */
function compare(watched: Watched, sale: SaleRow, beforeMs: number): void {
  const versions = sale.section_versions ?? {}
  const rows = sectionsIn(sale.products)
  const epoch = hashOf(rows.map(({ product_id }) => product_id).join()).toString(36)
  const revision = rows.reduce((sum, { product_id }) => sum + 1 + (versions[product_id] ?? 0), 0)
  // Backwards only where a ledger has lost changes.
  const isOther = epoch !== watched.epoch || revision < watched.revision
  if (revision === watched.revision && !isOther) return
  const before = watched.sections
  watched.sections = new Map(
    rows.map((row) => {
      const { product_id } = row
      const known = before.get(product_id)
      const version = versions[product_id] ?? 0
      const isSame = known?.version === version && !isOther
      const changedAt = isSame ? known.changedAt : revision
      return [product_id, { version, available: available(row), sent: known?.sent ?? null, changedAt }]
    }),
  )
  watched.revision = revision
  if (isOther) Object.assign(watched, { epoch, firstRevision: revision, sentRevision: 0 })
  const isPending = [...watched.sections.values()].some(({ available, sent }) => available !== sent)
  if (isPending) watched.pendingSinceMs ??= beforeMs
  else {
    watched.pendingSinceMs = null
    watched.sentRevision = revision
  }
  watched.snapshot = null
}
