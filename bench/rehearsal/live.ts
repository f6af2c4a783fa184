/**
 * The live view of a rehearsal: a few lines that redraw themselves, or, where there is no terminal, one line now and
 * then. Takes a sample of the sale each second, from which the report draws its charts.
 */
import { servingExactly } from '../../shared/schedule.ts'
import { duration, n } from '../lib/figures.ts'
import type { Crowd } from './crowd.ts'

/** The sale at one moment. */
export interface Sample {
  /** Since the opening. */
  readonly second: number
  readonly phase: string
  readonly arrived: number
  readonly joined: number
  readonly waiting: number
  readonly admitted: number
  /** Who has come to the checkout. */
  readonly shopping: number
  readonly reserved: number
  readonly paying: number
  readonly bought: number
  readonly over: number
  readonly ended: number
  readonly serving: number
  /** The 99th percentile of this second, milliseconds; 0 where nobody asked. */
  readonly joinP99Ms: number
  readonly checkoutP99Ms: number
  /** Requests of ours that wait for a connection: what the crowd's own machine is behind by. */
  readonly waitingHere: number
  readonly memoryMb: number
}

const SAMPLE_EVERY_MS = 1_000
const LINE_EVERY = 5
/** Four hours of samples. */
const MAX_SAMPLES = 14_400
/** Beside the bar a line has names, figures and a note. */
const BAR = { most: 28, least: 6, beside: 66 }

export interface Target {
  readonly visitors: number
  readonly stock: number
  readonly rate: number
}

export class Live {
  readonly #crowd: Crowd
  readonly #target: Target
  readonly #opensAtMs: number
  readonly #terminal: boolean
  readonly #samples: Sample[] = []
  #timer: NodeJS.Timeout | undefined
  #drawn = 0
  peakMemoryMb = 0

  constructor(crowd: Crowd, target: Target, opensAtMs: number, terminal: boolean) {
    this.#crowd = crowd
    this.#target = target
    this.#opensAtMs = opensAtMs
    this.#terminal = terminal
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
    const sample = this.#sample()
    this.peakMemoryMb = Math.max(this.peakMemoryMb, sample.memoryMb)
    if (this.#samples.length < MAX_SAMPLES) this.#samples.push(sample)
    if (this.#terminal) this.#draw(sample)
    else if (this.#samples.length % LINE_EVERY === 1) console.log(this.#line(sample))
  }

  #sample(): Sample {
    const { cdn, visitors, client } = this.#crowd
    const { counts, ends, recent } = this.#crowd.tally
    const nowMs = performance.now()
    const join = recent.join.take()
    const checkout = recent.checkout.take()
    return {
      second: Math.round((nowMs - this.#opensAtMs) / 100) / 10,
      phase: cdn.copy.phase,
      ...counts,
      bought: ends.bought,
      over: ends.sold_out + ends.ended,
      ended: visitors.ended,
      serving: cdn.copy.draw_seed === null ? 0 : Math.floor(servingExactly(cdn.copy, cdn.serverMs(nowMs))),
      joinP99Ms: Math.round(join.p99 * 10) / 10,
      checkoutP99Ms: Math.round(checkout.p99 * 10) / 10,
      waitingHere: client.waiting,
      memoryMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
    }
  }

  /** How much something has grown per second, over the last five. */
  #perSecond(of: (s: Sample) => number): number {
    const last = this.#samples.at(-1)
    const before = this.#samples.at(-6) ?? this.#samples[0]
    if (!last || !before || last === before) return 0
    return Math.max(0, (of(last) - of(before)) / Math.max(0.1, last.second - before.second))
  }

  #line(s: Sample): string {
    const moment = `${s.second < 0 ? '' : '+'}${s.second.toFixed(0)} s`.padStart(7)
    return [
      `${moment}  ${s.phase.padEnd(12)}`,
      `queued ${n(s.joined)}`,
      `admitted ${n(s.admitted)} (${n(this.#perSecond((x) => x.shopping))}/s of ${n(this.#target.rate)}/s)`,
      `bought ${n(s.bought)}`,
      `sold out ${n(s.over)}`,
      s.joinP99Ms > 0 ? `join p99 ${duration(s.joinP99Ms)}` : '',
      s.checkoutP99Ms > 0 ? `checkout p99 ${duration(s.checkoutP99Ms)}` : '',
    ]
      .filter((part) => part !== '')
      .join('  ')
  }

  #draw(s: Sample): void {
    const { visitors, stock, rate } = this.#target
    const { latency, ends } = this.#crowd.tally
    const columns = process.stdout.columns || 100
    const bar = Math.max(BAR.least, Math.min(BAR.most, columns - BAR.beside))
    const row = (name: string, value: number, of: number, note: string) => {
      const full = Math.min(bar, Math.round((value / Math.max(1, of)) * bar))
      return `  ${name.padEnd(9)} ${'█'.repeat(full)}${'░'.repeat(bar - full)} ${n(value).padStart(9)}  ${note}`
    }
    const lost = ends.failed + ends.gave_up + ends.missed_turn
    const lines = [
      `  ${s.second < 0 ? `opens in ${(-s.second).toFixed(0)} s` : `open for ${s.second.toFixed(0)} s`}, ${s.phase.replaceAll('_', ' ')}, now serving ${n(s.serving)}`,
      row(
        'joined',
        s.joined,
        visitors,
        `${n(this.#perSecond((x) => x.joined))}/s, p99 ${duration(latency.join.percentile(0.99))}`,
      ),
      row('waiting', s.waiting, visitors, ''),
      row('admitted', s.admitted, visitors, `${n(this.#perSecond((x) => x.shopping))}/s of ${n(rate)}/s`),
      row(
        'reserved',
        s.reserved,
        stock,
        `checkout p99 ${duration(latency.checkout.percentile(0.99))}, ${n(s.paying)} paying`,
      ),
      row('bought', s.bought, stock, ''),
      row('sold out', s.over, visitors, lost > 0 ? `${n(lost)} lost` : ''),
    ]
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : ''
    process.stdout.write(up + lines.map((line) => `\x1b[2K${line.slice(0, columns - 1)}\n`).join(''))
    this.#drawn = lines.length
  }
}
