/** The live view of a rehearsal: a few lines that redraw themselves, or one line now and then where there is no terminal. */
import { serving } from '../shared/schedule.ts'
import type { Crowd } from './crowd.ts'

/** The sale at one moment: what the charts of the report are drawn from. */
export interface Sample {
  /** Seconds since the opening. */
  readonly second: number
  readonly arrived: number
  readonly queued: number
  readonly admitted: number
  readonly bought: number
  readonly soldOut: number
  readonly phase: string
}

const DRAW_EVERY_MS = 500
const LINE_EVERY = 4
const BAR = 30

export class Live {
  readonly #crowd: Crowd
  readonly #target: { visitors: number; stock: number; rate: number }
  readonly #opensAtMs: number
  readonly #samples: Sample[] = []
  #timer: NodeJS.Timeout | undefined
  #ticks = 0
  #drawn = 0

  constructor(crowd: Crowd, target: { visitors: number; stock: number; rate: number }, opensAtMs: number) {
    this.#crowd = crowd
    this.#target = target
    this.#opensAtMs = opensAtMs
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), DRAW_EVERY_MS)
  }

  stop(): Sample[] {
    clearInterval(this.#timer)
    this.#tick()
    return this.#samples
  }

  #tick(): void {
    const { counts, schedule } = this.#crowd
    const second = (performance.now() - this.#opensAtMs) / 1000
    this.#samples.push({
      second: Math.round(second * 10) / 10,
      arrived: counts.arrived,
      queued: counts.queued,
      admitted: counts.admitted,
      bought: counts.bought,
      soldOut: counts.soldOut,
      phase: schedule?.phase ?? '',
    })
    const before = this.#samples.at(-1 - 2000 / DRAW_EVERY_MS)
    const rate = before
      ? Math.max(0, (counts.admitted - before.admitted) / Math.max(0.1, second - before.second))
      : 0
    const now = schedule ? serving(schedule, schedule.server_time_ms) : 0
    const head = `${second < 0 ? 'opens in' : 'open for'} ${Math.abs(second).toFixed(0)} s, ${schedule?.phase ?? ''}, now serving ${now}`
    const rows: [string, number, number, string][] = [
      [
        'queued',
        counts.queued,
        this.#target.visitors,
        `join p99 ${this.#crowd.latency.join.percentile(0.99).toFixed(0)} ms`,
      ],
      ['admitted', counts.admitted, this.#target.visitors, `${rate.toFixed(0)}/s of ${this.#target.rate}/s`],
      [
        'bought',
        counts.bought,
        this.#target.stock,
        `checkout p99 ${this.#crowd.latency.checkout.percentile(0.99).toFixed(0)} ms`,
      ],
      ['sold out', counts.soldOut, this.#target.visitors, counts.failed > 0 ? `${counts.failed} failed` : ''],
    ]
    if (process.stdout.isTTY) this.#draw(head, rows)
    else if (this.#ticks++ % LINE_EVERY === 0) {
      console.log(
        `${head}: ${rows.map(([name, n, , note]) => `${name} ${n}${note ? ` (${note})` : ''}`).join(', ')}`,
      )
    }
  }

  #draw(head: string, rows: [string, number, number, string][]): void {
    const lines = rows.map(([name, n, of, note]) => {
      const full = Math.min(BAR, Math.round((n / Math.max(1, of)) * BAR))
      return `  ${name.padEnd(9)}${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${String(n).padStart(8)}  ${note}`
    })
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : ''
    process.stdout.write(up + [head, ...lines].map((line) => `\x1b[2K${line}\n`).join(''))
    this.#drawn = lines.length + 1
  }
}
