/**
 * Keeps a hall up to date while its page is visible. It gets the counts of free seats of all sections, by a stream if
 * there is one, and the states of the seats in those sections that the visitor sees, has open in the list, or has
 * chosen seats from.
 */
import { type Hall, type Section, unpackStates } from '../../../shared/hall/hall-model.ts'

/** The server's `max-age` sets the interval, within these limits. */
const MIN_POLL_MS = 1_000
const MAX_POLL_MS = 10_000
/** One round reads the seats of this many sections; the others follow in the next round. */
const SECTIONS_A_ROUND = 6
/** The pause between rounds while some sections have not been read yet. */
const NEXT_ROUND_MS = 250
const TIMEOUT_MS = 8_000

export interface SeatData {
  readonly hall: Hall
  /** The states of all seats of the hall. An unknown state counts as taken. */
  readonly states: Uint8Array
  /** The number of free seats by section. A section that is missing is not known yet. */
  readonly counts: Map<string, number>
}

interface FeedOptions {
  /** The path of the sale. */
  readonly sale: string
  readonly data: SeatData
  /** Returns the sections whose seats are needed now. */
  readonly neededSections: () => ReadonlySet<Section>
  /** The sections whose seats are counted by price. They are read if a round has room for them, and after a change. */
  readonly countedSections: readonly Section[]
  /** Called after a change. `section` is set if the states of its seats changed. */
  readonly onChange: (section?: Section) => void
  /** Called if the hall has a new chart. */
  readonly onNewChart: (version: number) => void
}

export class Feed {
  readonly #options: FeedOptions
  readonly #readAtMs = new Map<string, number>()
  /** The sections that have changed since they were read, according to the stream. */
  readonly #changed = new Set<string>()
  readonly #stop = new AbortController()
  #pollMs = 2 * MIN_POLL_MS
  #timer = 0
  #isHurrying = false
  #events: EventSource | null = null

  constructor(of: FeedOptions) {
    this.#options = of
  }

  start(): void {
    document.addEventListener('visibilitychange', () => this.#onVisibility(), { signal: this.#stop.signal })
    this.#onVisibility()
  }

  stop(): void {
    this.#stop.abort()
    this.#rest()
  }

  /** Reads unknown sections soon, for example after the map was moved. */
  hurry(): void {
    if (this.#isHurrying || !this.#isMissingSome() || document.hidden || this.#stop.signal.aborted) return
    this.#isHurrying = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#round(), NEXT_ROUND_MS)
  }

  #rest(): void {
    clearTimeout(this.#timer)
    this.#events?.close()
    this.#events = null
  }

  #onVisibility(): void {
    this.#rest()
    if (document.hidden) return
    this.#listen()
    void this.#round()
  }

  /** If there is no stream, for example after the end of a turn, the rounds read the counts. */
  #listen(): void {
    const events = new EventSource(`${this.#options.sale}/sections/updates`)
    this.#events = events
    events.onmessage = ({ data }: MessageEvent<string>) => this.#count(JSON.parse(data) as Update)
  }

  #count({ section_id, available_seats }: Update): void {
    if (this.#options.data.counts.get(section_id) === available_seats) return
    this.#options.data.counts.set(section_id, available_seats)
    this.#changed.add(section_id)
    this.#options.onChange()
  }

  async #round(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isHurrying = true
    const due = this.#due()
    const hasCounts = this.#events?.readyState === EventSource.OPEN && this.#options.data.counts.size > 0
    await Promise.all([hasCounts ? null : this.#readCounts(), ...due.map((section) => this.#readSeats(section))])
    this.#isHurrying = false
    if (this.#stop.signal.aborted || document.hidden) return
    this.#timer = setTimeout(() => void this.#round(), this.#isMissingSome() ? NEXT_ROUND_MS : this.#pollMs)
  }

  #isMissingSome = () =>
    [...this.#options.neededSections()].some(({ id, seats }) => seats.length > 0 && !this.#readAtMs.has(id))

  /**
   * The sections to read: unread ones first, then changed ones, then those that were read longest ago; and then those
   * that are only counted, if they are unread or have changed.
   */
  #due(): Section[] {
    const age = ({ id }: Section) => (this.#readAtMs.get(id) ?? -Infinity) - (this.#changed.has(id) ? 1e9 : 0)
    const inTurn = (sections: Iterable<Section>) => [...sections].sort((a, b) => age(a) - age(b))
    const needed = this.#options.neededSections()
    const counted = this.#options.countedSections.filter(
      (section) => !needed.has(section) && (!this.#readAtMs.has(section.id) || this.#changed.has(section.id)),
    )
    const due = [...inTurn(needed), ...inTurn(counted)].filter(({ seats }) => seats.length > 0)
    return due.slice(0, SECTIONS_A_ROUND)
  }

  async #readCounts(): Promise<void> {
    const answer = await this.#get<{ sections: readonly Update[] }>('sections')
    for (const one of answer?.sections ?? []) this.#count(one)
  }

  async #readSeats(section: Section): Promise<void> {
    const { data, onChange, onNewChart } = this.#options
    this.#changed.delete(section.id)
    const answer = await this.#get<{ version: number; seats: string }>(`sections/${section.id}/availability`)
    if (!answer) return
    if (answer.version !== data.hall.version) return onNewChart(answer.version)
    const states = unpackStates(answer.seats, section.seats.length)
    const isFirst = !this.#readAtMs.has(section.id)
    this.#readAtMs.set(section.id, performance.now())
    const before = data.states.subarray(section.first, section.first + states.length)
    if (!isFirst && states.every((state, i) => state === before[i])) return
    data.states.set(states, section.first)
    onChange(section)
  }

  /** Returns null if the server did not respond; the next round tries again. */
  async #get<T>(path: string): Promise<T | null> {
    try {
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TIMEOUT_MS)])
      const response = await fetch(`${this.#options.sale}/${path}`, { signal })
      const [, seconds] = /max-age=(\d+)/.exec(response.headers.get('cache-control') ?? '') ?? []
      if (seconds) this.#pollMs = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, 1000 * Number(seconds)))
      return response.ok ? ((await response.json()) as T) : null
    } catch {
      return null
    }
  }
}

/** The count of a section, from the stream or from the document of all sections. */
interface Update {
  readonly section_id: string
  readonly available_seats: number
}
