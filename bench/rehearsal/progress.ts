/**
 * Shows the progress of a rehearsal in one line, which a terminal updates each second. The report draws its charts
 * from the samples.
 */
import { terminal } from '../../dev/lib/command.ts'
import { servingExactly } from '../../shared/schedule.ts'
import type { Crowd } from '../crowd/crowd.ts'
import { duration, n } from '../lib/figures.ts'

const SAMPLE_EVERY_MS = 1_000
/** The number of samples between two lines outside a terminal. */
const LINE_EVERY = 5
/** The samples are kept for four hours. */
const MAX_SAMPLES = 14_400
const BAR_WIDTH = 20

export class Live {
  readonly #crowd: Crowd
  readonly #opensAtMs: number
  readonly #samples: Sample[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(crowd: Crowd, opensAtMs: number) {
    this.#crowd = crowd
    this.#opensAtMs = opensAtMs
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), SAMPLE_EVERY_MS)
  }

  stop(): Sample[] {
    this.quiet()
    this.#tick()
    return this.#samples
  }

  quiet(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const sample = sampleOf(this.#crowd, this.#opensAtMs)
    if (this.#samples.length < MAX_SAMPLES) this.#samples.push(sample)
    const line = progressLine(sample, sample.ended / this.#crowd.visitors.length)
    if (terminal) process.stdout.write(`\r\x1b[K${line.slice(0, (process.stdout.columns || 100) - 1)}`)
    else if (this.#samples.length % LINE_EVERY === 1) console.log(line)
  }
}

export type Sample = ReturnType<typeof sampleOf>

/** The sale at this moment; latencies are those since the last sample, 0 without a call. */
function sampleOf({ schedule, tally, ended }: Crowd, opensAtMs: number) {
  const { copy } = schedule
  const nowMs = performance.now()
  const tenths = (value: number) => Math.round(value * 10) / 10
  return {
    ...tally.counts,
    /** The time since the opening. */
    second: tenths((nowMs - opensAtMs) / 1000),
    phase: copy.phase,
    bought: tally.ends.bought,
    over: tally.ends.sold_out + tally.ends.ended,
    ended,
    serving: copy.draw_seed === null ? 0 : Math.floor(servingExactly(copy, schedule.serverMs(nowMs))),
    joinP99Ms: tenths(tally.recent.join.take().p99),
    checkoutP99Ms: tenths(tally.recent.checkout.take().p99),
    memoryMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
  }
}

function progressLine(s: Sample, done: number): string {
  const full = Math.round(done * BAR_WIDTH)
  return [
    `${s.second < 0 ? '' : '+'}${s.second.toFixed(0)} s`.padStart(7),
    `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${s.phase.padEnd(9)}`,
    `joined ${n(s.joined)}`,
    `admitted ${n(s.admitted)}`,
    `bought ${n(s.bought)}`,
    `sold out ${n(s.over)}`,
    ...(s.joinP99Ms > 0 ? [`join p99 ${duration(s.joinP99Ms)}`] : []),
    ...(s.checkoutP99Ms > 0 ? [`checkout p99 ${duration(s.checkoutP99Ms)}`] : []),
  ].join('  ')
}
