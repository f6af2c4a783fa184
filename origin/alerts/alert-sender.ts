/** Sends the alerts that wait, each by its channel, and tries again what did not arrive. */
import type { Logger } from 'pino'
import type { Consumer, End } from '../jobs/job-runner.ts'
import type { Job } from '../jobs/queues.ts'
import type { AlertChannels, Unsent } from './channels.ts'

/** One worker sends this many alerts at once. A storm of findings waits. */
const CONCURRENCY = 4

interface SenderDeps {
  readonly channels: Pick<AlertChannels, 'send'>
  readonly log: Logger
}

export class AlertSender implements Consumer<'alert'> {
  readonly queue = 'alert'
  readonly #deps: SenderDeps

  constructor(deps: SenderDeps) {
    this.#deps = deps
  }

  room(busy: number): number {
    return CONCURRENCY - busy
  }

  async run(jobs: readonly Job<'alert'>[], end: End<'alert'>): Promise<void> {
    await Promise.all(
      jobs.map(async (job) => {
        const { channel, alert, to } = job.data
        try {
          await this.#deps.channels.send(channel, alert, String(job.job_id), to)
        } catch (thrown) {
          const { message, retryAfterMs = 0 } = thrown as Partial<Unsent> & Error
          this.#deps.log.warn({ channel, attempt: job.attempt, error: message }, 'alert not sent')
          return end(job, { end: 'failed', error: message.slice(0, 300), afterMs: retryAfterMs })
        }
        return end(job, { end: 'done' })
      }),
    )
  }
}
