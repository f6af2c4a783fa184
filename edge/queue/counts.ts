/**
 * What happens to those who join, counted for operators. Each isolate counts, the ticket shards and the waiting room
 * sum up, and the sums travel up to the origin with the requests that are made anyway, and without one within a
 * second. Whoever gets no response counts on and sends them again; the waiting room stores what it has.
 */
import type { JoinCounts } from '../../shared/api/internal.ts'
import { OTHER_SOURCE } from '../../shared/api/views/source.ts'

/** The limit of names of one kind in a sum; further names are dropped. A sale has at most a hundred rules. */
const MAX_NAMES = 200
/**
 * The limit of answer samples in a sum, which must fit into the line of a request. The sum keeps the samples with the
 * smallest digests, so that no caller chooses which ones.
 */
const MAX_ANSWERS = 64

/**
 * The limit of sources in a sum, which must fit into the line of a request as well. The rarest one beyond it counts as
 * `other`, so that nobody who makes up sources displaces a frequent one.
 */
const MAX_SOURCES = 40
/** The limit of networks in a sum, for the same reason; the rarest one beyond it is dropped. */
const MAX_NETWORKS = 60
/** The limit of sessions in a sum, for the same reason. The others go with the next ones; so many may wait. */
const MAX_SESSIONS = 200
const MAX_WAITING_SESSIONS = 20_000

export class CountSum {
  #sum = empty()
  #isEmpty = true
  /** The sessions, those that go first in front. */
  readonly #sessions = new Map<string, number>()

  add(counts: Partial<JoinCounts>): void {
    this.#add(counts)
    // What happened to a session later is what holds.
    for (const [name, seconds] of Object.entries(counts.sessions ?? {})) this.#setSession(name, seconds)
  }

  #setSession(name: string, seconds: number): void {
    if (this.#sessions.has(name) || this.#sessions.size < MAX_WAITING_SESSIONS) this.#sessions.set(name, seconds)
  }

  #add({ joins = 0, crowded = 0, proofs = 0, sources, networks, refusals, met, answers }: Partial<JoinCounts>): void {
    this.#isEmpty = false
    this.#sum.joins += joins
    this.#sum.crowded += crowded
    this.#sum.proofs += proofs
    for (const [source, many] of Object.entries(sources ?? {})) addSource(this.#sum.sources, source, many)
    for (const [asn, [joined, unproved]] of Object.entries(networks ?? {}))
      addNetwork(this.#sum.networks, asn, joined, unproved)
    addByName(this.#sum.refusals, refusals)
    addByName(this.#sum.met, met)
    if (answers) this.#sum.answers = leastOf({ ...answers, ...this.#sum.answers })
  }

  isEmpty(): boolean {
    return this.#isEmpty
  }

  hasJoins(): boolean {
    return this.#sum.joins > 0
  }

  /** All that the next `drain` returns. */
  sum(): JoinCounts {
    return { ...this.#sum, sessions: Object.fromEntries([...this.#sessions].slice(0, MAX_SESSIONS)) }
  }

  /** Sends all that was counted since the last time. Without a response it is counted as not sent. */
  async send<T>(call: (counts: JoinCounts | undefined) => Promise<T>): Promise<T> {
    const counts = this.drain()
    try {
      return await call(counts)
    } catch (error) {
      if (counts) this.#addBefore(counts)
      throw error
    }
  }

  /** Adds what happened before all that has been added since. */
  #addBefore(counts: JoinCounts): void {
    this.#add(counts)
    for (const [name, seconds] of Object.entries(counts.sessions))
      if (!this.#sessions.has(name)) this.#setSession(name, seconds)
  }

  /** All that was counted since the last call, but for sessions that do not fit; undefined for nothing. */
  drain(): JoinCounts | undefined {
    if (this.#isEmpty) return
    const sum = this.sum()
    this.#sum = empty()
    for (const name of Object.keys(sum.sessions)) this.#sessions.delete(name)
    this.#isEmpty = this.#sessions.size === 0
    return sum
  }
}

const empty = () => ({
  joins: 0,
  crowded: 0,
  proofs: 0,
  sources: {} as Record<string, number>,
  refusals: {},
  met: {},
  answers: {} as Record<string, number>,
  networks: {} as Record<string, [joined: number, unproved: number]>,
})

function addSource(sums: Record<string, number>, source: string, many: number): void {
  const known = sums[source]
  sums[source] = known === undefined ? many : known + many
  const named = Object.entries(sums).filter(([name]) => name !== OTHER_SOURCE)
  if (named.length <= MAX_SOURCES) return
  const [rarest, count] = named.reduce((least, one) => (one[1] < least[1] ? one : least))
  delete sums[rarest]
  sums[OTHER_SOURCE] = (sums[OTHER_SOURCE] ?? 0) + count
}

function addNetwork(sums: JoinCounts['networks'], asn: string, joined: number, unproved: number): void {
  const [known, refused] = sums[asn] ?? [0, 0]
  sums[asn] = [known + joined, refused + unproved]
  if (Object.keys(sums).length <= MAX_NETWORKS) return
  const of = (one: string) => (sums[one]?.[0] ?? 0) + (sums[one]?.[1] ?? 0)
  const rarest = Object.keys(sums).reduce((least, one) => (of(one) < of(least) ? one : least))
  delete sums[rarest]
}

const leastOf = (answers: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(answers)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, MAX_ANSWERS),
  )

function addByName(sums: Record<string, number>, counted: Readonly<Record<string, number>> = {}): void {
  let names = Object.keys(sums).length
  for (const [name, many] of Object.entries(counted)) {
    const known = sums[name]
    if (known !== undefined) sums[name] = known + many
    else if (names++ < MAX_NAMES) sums[name] = many
    else return
  }
}
