/** What the probe has seen, as metrics for Prometheus. */
import { Counter, Gauge, Registry } from 'prom-client'
import { type Purchase, STEPS } from './purchase.ts'

export function createProbeMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const success = new Gauge({
    name: 'flash_sale_probe_success',
    help: '1 if the last visitor of the probe has bought, 0 if not',
    registers,
  })
  const seconds = new Gauge({
    name: 'flash_sale_probe_seconds',
    help: `Time of each step of the last visitor: ${STEPS.join(', ')}`,
    labelNames: ['step'],
    registers,
  })
  const runs = new Counter({
    name: 'flash_sale_probe_runs_total',
    help: 'Visitors of the probe by outcome: bought, failed',
    labelNames: ['outcome'],
    registers,
  })
  const lastRun = new Gauge({
    name: 'flash_sale_probe_last_run_timestamp_seconds',
    help: 'End of the last visit',
    registers,
  })
  return {
    registry,
    note(purchase: Purchase) {
      success.set(purchase.failed ? 0 : 1)
      // The time of a step that was not reached this time would be of an earlier visitor.
      seconds.reset()
      for (const step of STEPS) {
        const took = purchase.seconds[step]
        if (took !== undefined) seconds.set({ step }, took)
      }
      runs.inc({ outcome: purchase.failed ? 'failed' : 'bought' })
      lastRun.setToCurrentTime()
    },
  }
}
