/**
 * The live view of a rehearsal: a few lines that redraw themselves, or, without a terminal, one line every few seconds.
 * Takes a sample of the sale each second, from which the report draws its charts.
 */
import { servingExactly } from '../../shared/schedule.ts'
import { duration, n } from '../lib/figures.ts'
import type { Crowd } from './crowd.ts'
import type { Options } from './options.ts'
import type { Tally } from './tally.ts'

/** The sale at one moment. */
export type Sample = Readonly<Tally['counts']> & {
  /** Since the opening. */
  readonly second: number
  readonly phase: string
  readonly bought: number
  readonly over: number
  readonly ended: number
  readonly serving: number
  /** Of this second, milliseconds; 0 without a call. */
  readonly joinP99Ms: number
  readonly checkoutP99Ms: number
  readonly memoryMb: number
}

type Target = Pick<Options, 'visitors' | 'stock' | 'rate'>

const SAMPLE_EVERY_MS = 1_000
const LINE_EVERY = 5
/** Four hours of samples. */
const MAX_SAMPLES = 14_400
/** Columns of a bar, and of the text beside it. */
const BAR = { most: 28, least: 6, beside: 66 }

export class Live {
  readonly #crowd: Crowd
  readonly #target: Target
  readonly #opensAtMs: number
  readonly #redraws: boolean
  readonly #samples: Sample[] = []
  #timer: NodeJS.Timeout | undefined
  #drawn = 0
  peakMemoryMb = 0

  constructor(crowd: Crowd, target: Target, opensAtMs: number, redraws: boolean) {
    this.#crowd = crowd
    this.#target = target
    this.#opensAtMs = opensAtMs
    this.#redraws = redraws
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
    if (this.#redraws) this.#redraw(sample)
    else if (this.#samples.length % LINE_EVERY === 1) console.log(this.#line(sample))
  }

  #sample(): Sample {
    const { schedule, visitors, tally } = this.#crowd
    const { copy } = schedule
    const nowMs = performance.now()
    const tenths = (value: number) => Math.round(value * 10) / 10
    return {
      ...tally.counts,
      second: tenths((nowMs - this.#opensAtMs) / 1000),
      phase: copy.phase,
      bought: tally.ends.bought,
      over: tally.ends.sold_out + tally.ends.ended,
      ended: visitors.ended,
      serving: copy.draw_seed === null ? 0 : Math.floor(servingExactly(copy, schedule.serverMs(nowMs))),
      joinP99Ms: tenths(tally.recent.join.take().p99),
      checkoutP99Ms: tenths(tally.recent.checkout.take().p99),
      memoryMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
    }
  }

  /** Growth per second, over the last five. */
  #perSecond(of: (s: Sample) => number): string {
    const last = this.#samples.at(-1)
    const before = this.#samples.at(-6) ?? this.#samples[0]
    if (!last || !before || last === before) return '0/s'
    return `${n(Math.max(0, (of(last) - of(before)) / Math.max(0.1, last.second - before.second)))}/s`
  }

  #line(s: Sample): string {
    const moment = `${s.second < 0 ? '' : '+'}${s.second.toFixed(0)} s`.padStart(7)
    return [
      `${moment}  ${s.phase.padEnd(12)}`,
      `joined ${n(s.joined)}`,
      `admitted ${n(s.admitted)} (${this.#perSecond((x) => x.shopping)} of ${n(this.#target.rate)}/s)`,
      `bought ${n(s.bought)}`,
      `sold out ${n(s.over)}`,
      s.joinP99Ms > 0 ? `join p99 ${duration(s.joinP99Ms)}` : '',
      s.checkoutP99Ms > 0 ? `checkout p99 ${duration(s.checkoutP99Ms)}` : '',
    ]
      .filter((part) => part !== '')
      .join('  ')
  }

  #redraw(s: Sample): void {
    const { visitors, stock, rate } = this.#target
    const { latency, ends } = this.#crowd.tally
    const p99 = (kind: 'join' | 'checkout') => `p99 ${duration(latency[kind].percentile(0.99))}`
    const columns = process.stdout.columns || 100
    const bar = Math.max(BAR.least, Math.min(BAR.most, columns - BAR.beside))
    const row = (name: string, value: number, of: number, note: string) => {
      const full = Math.min(bar, Math.round((value / Math.max(1, of)) * bar))
      return `  ${name.padEnd(9)} ${'█'.repeat(full)}${'░'.repeat(bar - full)} ${n(value).padStart(9)}  ${note}`
    }
    const lost = ends.failed + ends.gave_up + ends.missed_turn
    const lines = [
      `  ${s.second < 0 ? `opens in ${(-s.second).toFixed(0)} s` : `open for ${s.second.toFixed(0)} s`}, ${s.phase.replaceAll('_', ' ')}, now serving ${n(s.serving)}`,
      row('joined', s.joined, visitors, `${this.#perSecond((x) => x.joined)}, ${p99('join')}`),
      row('waiting', s.waiting, visitors, ''),
      row('admitted', s.admitted, visitors, `${this.#perSecond((x) => x.shopping)} of ${n(rate)}/s`),
      row('reserved', s.reserved, stock, `${p99('checkout')}, ${n(s.paying)} paying`),
      row('bought', s.bought, stock, ''),
      row('sold out', s.over, visitors, lost > 0 ? `${n(lost)} lost` : ''),
    ]
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : ''
    process.stdout.write(up + lines.map((line) => `\x1b[2K${line.slice(0, columns - 1)}\n`).join(''))
    this.#drawn = lines.length
  }
}
