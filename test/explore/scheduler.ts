/**
 * Plays one order of events. Everything that can happen is an item: a call that leaves a process, a timer that is due,
 * an actor that begins. One item goes at a time, and the decisions say which one, and what becomes of it. Time moves
 * only here. The same decisions make the same steps, so a failure comes back by its seed, or by a shorter list.
 */
import type { Runtime } from '../../origin/lib/runtime.ts'
import type { Decisions } from './decisions.ts'

/** What may become of a call. Only `done` disturbs nothing. */
export type Fate = keyof typeof SENTENCES

const SENTENCES = {
  done: '',
  held: ', which stays on its way',
  'held long': ', which stays on its way for long',
  late: ', and the answer stays on its way',
  lost: ', and the answer is lost',
  failed: ', which fails and has no effect',
  unheard: ', whose connection breaks before it is heard',
  delayed: ', which fails, and takes effect later',
  dies: ': the process ends before it',
  'dies after': ': the process ends right after it',
  slow: ', slowly',
  'very slow': ', very slowly',
  twice: ', twice',
  'twice, far apart': ', twice, the second time later',
  'its object dies': ', and what it calls is evicted',
  'its object becomes a ghost': ', and what it calls is replaced, but still reached from here',
}

/** A call that leaves a process. */
export interface Call<Result> {
  /** The point, by a name from the list of points. */
  readonly what: string
  /** Performs the call on the real store, or the real object. */
  readonly effect: () => Promise<Result>
  /** What the caller gets where the answer is lost or the call fails: throws, or returns a result that says so. */
  readonly failure: (fate: 'lost' | 'failed' | 'unheard' | 'delayed') => Result
  readonly fates: readonly Fate[]
  /** Calls of one lane, such as a connection, keep their order. */
  readonly lane?: string
  /** How many calls wait in the store for another one that has to go first, such as one that has a lock. */
  readonly blocked?: () => Promise<number>
}

interface Item {
  readonly id: number
  /** The step that made it. */
  readonly bornAt: number
  readonly owner: Process | undefined
  readonly name: string
  readonly what: string
  readonly fates: readonly Fate[]
  readonly lane: string | undefined
  /** It is on its way, and cannot go before this moment. */
  heldUntilMs?: number
  readonly go: (fate: Fate) => Promise<void>
}

/** A call that waits in its store. */
interface Parked {
  readonly pending: Promise<unknown>
  readonly blocked: () => Promise<number>
  readonly conclude: () => void
  isDone: boolean
}

interface Timer {
  readonly dueMs: number
  readonly id: number
  readonly owner: Process
  readonly work: () => void
}

/** One step that was played. */
export interface Step {
  /** After so long in the order. */
  readonly atMs: number
  readonly sentence: string
  readonly what: string
  readonly fate: Fate
  /** True where the undisturbed order would have done something else. */
  readonly isDisturbed: boolean
}

/** No order takes so many steps: a loop that never ends fails. */
const MAX_STEPS = 3_000
/** Where nothing else can go, time moves to the next timer, so often at most between two other steps. */
const MAX_IDLE_MOVES = 200
/**
 * A call without an answer after this real time is looked for among those that wait for a lock, and after twice as
 * long again: on a busy machine each look delays the others.
 */
const BLOCKED_AFTER_MS = 6
const moreRarely = (afterMs: number) => Math.min(2 * afterMs, 50)
/** A call that is held arrives after so long, by when all that can go without it has gone. */
const HELD_MS = 5
/** A slow store takes so long to do, or to answer, what it is asked: longer than anybody waits for it. */
const SLOW_MS = 2_100
/** Postgres ends a deadlock within a second. */
const DEADLOCK_MS = 3_000
/** The first moment of each order. */
export const BEGIN_MS = Date.UTC(2026, 0, 1, 12)

export class Scheduler {
  readonly #decisions: Decisions
  readonly steps: Step[] = []
  #items: Item[] = []
  #timers: Timer[] = []
  #ids = 0
  #soon = 0
  #busy = new Set<Promise<unknown>>()
  nowMs = BEGIN_MS
  /** Runs after each step, such as a look of the judge. */
  onStep: () => Promise<void> = async () => {}
  /** Runs after time has moved, and sets the clocks of the stores. */
  onTime: (nowMs: number) => Promise<void> = async () => {}
  #parked: Parked[] = []
  /** True once a call has waited in its store for another one. */
  hasWaited = false

  constructor(decisions: Decisions) {
    this.#decisions = decisions
  }

  /** A process, or an isolate, whose memory is lost when it ends. */
  process(name: string): Process {
    return new Process(this, name)
  }

  /** Adds an actor, or an event of the outside world, that begins whenever it is its turn. */
  actor(what: string, work: () => unknown, name = what): void {
    this.add({
      owner: undefined,
      name,
      what,
      fates: ['done'],
      go: async () => void Promise.resolve(work()).catch(this.#fail),
    })
  }

  add(item: Omit<Item, 'id' | 'bornAt' | 'lane'> & { readonly lane?: string }): void {
    // Code of a process that has just ended goes on to its next await.
    if (item.owner?.isAlive === false) return
    this.#items.push({ lane: undefined, ...item, id: this.#ids++, bornAt: this.steps.length })
  }

  /** What was thrown outside any call: the order ends with it. */
  #error: unknown
  readonly #fail = (error: unknown) => {
    this.#error ??= error
  }

  /** Plays until nothing is left to do. */
  async run(): Promise<void> {
    await this.#untilQuiet()
    for (let idle = 0; ; ) {
      if (this.#error !== undefined) throw this.#error
      const ready = this.#ready()
      const next = this.#nextMs()
      if (ready.length === 0 && this.#parked.length > 0 && next === undefined) {
        await this.#untilUnblocked(DEADLOCK_MS)
        continue
      }
      if (ready.length === 0 && (next === undefined || idle++ >= MAX_IDLE_MOVES)) return
      if (this.steps.length >= MAX_STEPS) throw new Error(`the order does not end within ${MAX_STEPS} steps`)
      const who =
        ready.length === 0
          ? 0
          : this.#decisions.who(
              ready.map(({ name, what }) => `${name}: ${what}`),
              next !== undefined,
            )
      if (who >= ready.length) await this.moveTime((next ?? this.nowMs) - this.nowMs, who > 0)
      else {
        idle = 0
        await this.#play(ready[who] as Item, who)
      }
    }
  }

  async #play(item: Item, who: number): Promise<void> {
    const fate = (item.fates.length > 1 && item.fates[this.#decisions.fate(item.fates, item.what)]) || 'done'
    this.#note(`${item.name}: ${item.what}${SENTENCES[fate]}`, item.what, fate, who > 0 || fate !== 'done')
    const at = this.#items.indexOf(item)
    if (fate === 'held' || fate === 'held long') {
      // It keeps its place, and what follows it in its lane waits behind it.
      this.#items[at] = { ...item, fates: ['done'], heldUntilMs: this.nowMs + (fate === 'held' ? HELD_MS : SLOW_MS) }
      return
    }
    this.#items.splice(at, 1)
    await item.go(fate)
    await this.#afterStep()
  }

  /** When the next timer is due, or the next call that is held. */
  #nextMs(): number | undefined {
    const held = this.#items.map(({ heldUntilMs = 0 }) => heldUntilMs).filter((ms) => ms > this.nowMs)
    const dues = [...this.#timers.map(({ dueMs }) => dueMs), ...held]
    return dues.length === 0 ? undefined : Math.min(...dues)
  }

  /** Moves time; timers that are due become items. */
  async moveTime(ms: number, isDisturbed = true): Promise<void> {
    const byMs = Math.max(0, ms)
    this.nowMs += byMs
    if (byMs > 0) {
      this.#note(`${byMs} ms pass`, 'time passes', 'done', isDisturbed)
      await this.onTime(this.nowMs)
    }
    const due = this.#timers
      .filter(({ dueMs }) => dueMs <= this.nowMs)
      .toSorted((a, b) => a.dueMs - b.dueMs || a.id - b.id)
    this.#timers = this.#timers.filter(({ dueMs }) => dueMs > this.nowMs)
    for (const { owner, work } of due)
      this.add({ owner, name: owner.name, what: 'a timer ends', fates: ['done'], go: async () => work() })
    await this.#afterStep()
  }

  async #afterStep(): Promise<void> {
    await this.#untilQuiet()
    if (this.#parked.length > 0) await this.#untilUnblocked()
    await this.onStep()
  }

  // -- Calls that wait in their store --------------------------------------------------------------------------------

  /** Concludes a call once it is done; one that waits for another call is parked, and others go meanwhile. */
  async settle<Answer>(
    pending: Promise<Answer>,
    conclude: (answer: Answer) => void,
    blocked?: () => Promise<number>,
  ): Promise<void> {
    if (!blocked) return conclude(await pending)
    const parked: Parked = { pending, blocked, isDone: false, conclude: () => void pending.then(conclude) }
    void pending.then(() => {
      parked.isDone = true
    })
    for (let afterMs = BLOCKED_AFTER_MS; ; afterMs = moreRarely(afterMs)) {
      await Promise.race([pending, delay(afterMs)])
      if (parked.isDone) return conclude(await pending)
      if ((await blocked()) > this.#parked.length) {
        this.#parked.push(parked)
        this.hasWaited = true
        return
      }
    }
  }

  /** Waits until each parked call is done, or known to wait still. */
  async #untilUnblocked(withinMs = 0): Promise<void> {
    const untilMs = performance.now() + withinMs
    for (let afterMs = BLOCKED_AFTER_MS; ; afterMs = moreRarely(afterMs)) {
      await Promise.race([...this.#parked.map(({ pending }) => pending), delay(afterMs)])
      const waiting = this.#parked.filter(({ isDone }) => !isDone)
      if (waiting.length === 0) break
      const isAll = ((await waiting[0]?.blocked()) ?? 0) >= waiting.length
      const isAny = waiting.length < this.#parked.length
      if (isAll && (isAny || performance.now() > untilMs)) {
        if (withinMs > 0 && !isAny) throw new Error('calls wait for each other for ever')
        break
      }
    }
    const done = this.#parked.filter(({ isDone }) => isDone)
    this.#parked = this.#parked.filter(({ isDone }) => !isDone)
    for (const { conclude } of done) conclude()
    await this.#untilQuiet()
  }

  /** Waits for what ended processes have left behind, such as transactions that are rolled back. */
  async drain(): Promise<void> {
    await this.#untilQuiet()
    await Promise.all(this.#parked.map(({ pending }) => pending))
    await this.#untilQuiet()
  }

  /** Something under way that is no step of its own, such as the begin of a transaction. */
  async busy<Result>(work: Promise<Result>): Promise<Result> {
    this.#busy.add(work)
    try {
      return await work
    } finally {
      this.#busy.delete(work)
    }
  }

  #note(sentence: string, what: string, fate: Fate, isDisturbed: boolean): void {
    this.steps.push({ atMs: this.nowMs - BEGIN_MS, sentence, what, fate, isDisturbed })
  }

  /** The items that may go: first those that the last step made, then the oldest; of each lane its first. */
  #ready(): Item[] {
    const lanes = new Set<string>()
    const free = this.#items.filter(({ lane, heldUntilMs = 0 }) => {
      const isFirst = lane === undefined || !lanes.has(lane)
      if (lane !== undefined) lanes.add(lane)
      return isFirst && heldUntilMs <= this.nowMs
    })
    const last = this.steps.length - 1
    return [...free.filter(({ bornAt }) => bornAt > last), ...free.filter(({ bornAt }) => bornAt <= last)]
  }

  /** All that follows from a step without a call or a timer has happened once the event loop has nothing left. */
  async #untilQuiet(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
    while (
      this.#soon > 0 ||
      (this.#busy.size > 0 &&
        (await Promise.race(this.#busy).then(
          () => true,
          () => true,
        )))
    )
  }

  // -- What processes use --------------------------------------------------------------------------------------------

  soon(owner: Process, work: () => void): void {
    this.#soon++
    setImmediate(() => {
      this.#soon--
      if (owner.isAlive) work()
    })
  }

  timer(owner: Process, ms: number, work: () => void): () => void {
    if (!owner.isAlive) return () => {}
    const timer = { dueMs: Math.ceil(this.nowMs + Math.max(0, ms)), id: this.#ids++, owner, work }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  random(): number {
    return this.#decisions.random()
  }

  forget(owner: Process): void {
    this.#items = this.#items.filter((item) => item.owner !== owner)
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner)
  }
}

/** A process: its timers, its chance and its ids, and the calls that leave it. */
export class Process {
  readonly name: string
  readonly runtime: Runtime
  readonly #scheduler: Scheduler
  readonly #ends = Promise.withResolvers<void>()
  #endings: (() => void)[] = []
  isAlive = true

  constructor(scheduler: Scheduler, name: string) {
    this.#scheduler = scheduler
    this.name = name
    this.runtime = {
      nowMs: () => scheduler.nowMs,
      monotonicMs: () => scheduler.nowMs - BEGIN_MS + 1_000_000,
      after: (ms, work) => scheduler.timer(this, ms, work),
      soon: (work) => scheduler.soon(this, work),
      random: () => scheduler.random(),
      uuid: () => uuidFrom(scheduler.nowMs, () => scheduler.random()),
    }
  }

  /** Runs when the process ends, such as the end of its connections. */
  onEnd(work: () => void): void {
    this.#endings.push(work)
  }

  end(): void {
    if (!this.isAlive) return
    this.isAlive = false
    this.#scheduler.forget(this)
    for (const work of this.#endings) work()
    this.#ends.resolve()
  }

  /** The result of work inside the process; undefined if the process ends before. */
  ask<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    return Promise.race([work(), this.#ends.promise.then(() => undefined)])
  }

  /** A call that leaves the process. It never settles in a process that has ended. */
  call<Result>({ what, effect, failure, fates, lane, blocked }: Call<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const settle = (work: () => Result | PromiseLike<Result>) => {
      try {
        resolve(work())
      } catch (error) {
        reject(error)
      }
    }
    /** The effect, and whatever it answers, as a function that gives it. */
    const perform = () =>
      effect().then(
        (result) => () => result,
        (error) => () => {
          throw error
        },
      )
    const scheduler = this.#scheduler
    const later = (name: string, go: () => Promise<void>, owner?: Process, heldUntilMs = 0) =>
      scheduler.add({ owner, name: this.name, what: name, fates: ['done'], go, heldUntilMs })
    if (this.isAlive)
      scheduler.add({
        owner: this,
        name: this.name,
        what,
        fates,
        ...(lane !== undefined && { lane: `${this.name} ${lane}` }),
        go: async (fate) => {
          if (fate === 'dies') return this.end()
          if (fate === 'failed' || fate === 'unheard') return settle(() => failure(fate))
          if (fate === 'delayed') {
            const work = () => scheduler.settle(perform(), () => {}, blocked)
            later(`${what}, delayed`, work, undefined, scheduler.nowMs + HELD_MS)
            return settle(() => failure('delayed'))
          }
          const conclude = (answer: () => Result) => {
            if (!this.isAlive) return
            if (fate === 'dies after') return this.end()
            if (fate === 'lost') return settle(() => failure('lost'))
            if (fate === 'slow') return void this.runtime.after(SLOW_MS, () => settle(answer))
            if (fate === 'late') return later(`the answer to "${what}" arrives`, async () => settle(answer), this)
            settle(answer)
          }
          await scheduler.settle(perform(), conclude, blocked)
        },
      })
    return promise
  }
}

/** An id in the form of a UUID of version 7. */
function uuidFrom(ms: number, random: () => number): string {
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(12)}`
}

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
