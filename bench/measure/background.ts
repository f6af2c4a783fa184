/**
 * The origin's background work in this process, one kind at a time, on orders that wait for it. An origin that only
 * serves calls (`ROLE=api`) leaves all of this work to be measured here.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import type { System } from '../../dev/system.ts'
import { readConfig } from '../../origin/base/config.ts'
import { createMetrics } from '../../origin/base/metrics.ts'
import { type Consumer, JobRunner } from '../../origin/jobs/job-runner.ts'
import type { QueueName } from '../../origin/jobs/queues.ts'
import { connect } from '../../origin/ledger/connection.ts'
import { Tracer } from '../../origin/lib/tracing.ts'
import { readMails } from '../../origin/mail/mail-queries.ts'
import { createMailer } from '../../origin/mail/mailer.ts'
import { OrderChanges } from '../../origin/orders/order-changes.ts'
import { Orders } from '../../origin/orders/orders.ts'
import { PaymentJobs } from '../../origin/payments/payment-jobs.ts'
import { startPayments } from '../../origin/payments/payments.ts'
import { countOrders } from '../../origin/report/sale-counts.ts'
import { SaleMemory } from '../../origin/sales/sale-memory.ts'
import { Gates } from '../../origin/stock/gate/gate.ts'
import { defineScripts } from '../../origin/stock/scripts.ts'
import { searchRounds } from '../../origin/support/indexer.ts'
import { WebhookCounts } from '../../origin/webhooks/counts.ts'
import { Deliverer } from '../../origin/webhooks/deliverer.ts'
import { fanOut } from '../../origin/webhooks/fan-out.ts'
import { SecretSealer } from '../../origin/webhooks/sealing.ts'
import { Sender } from '../../origin/webhooks/sender.ts'
import { importSecrets } from '../../shared/keys.ts'

const MAX_ROUNDS = 2_000
/** The pause between two rounds of an origin's job runner. */
const REST_MS = 150

/** `env` contains the origin's settings in addition to its stores and keys. */
export async function openBackground(system: System, env: Readonly<Record<string, string>>) {
  const { databaseUrl, redisUrl, secrets } = system
  const config = readConfig({
    NODE_ENV: 'development',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    ADMISSION_KEYS: JSON.stringify(secrets.admissionKeys),
    WEBHOOK_KEYS: JSON.stringify(secrets.webhookKeys),
    EDGE_URL: system.edgeUrl,
    ...env,
  })
  const sql = connect(databaseUrl)
  const redis = defineScripts(new Redis(redisUrl))
  const log = pino({ level: 'error' })
  const metrics = createMetrics()
  const nowMs = () => Date.now()
  const jobs = new PaymentJobs(log)
  const deps = { config, sql, metrics, log }
  const actionSeconds = config.PAYMENT_ACTION_SECONDS
  const orders = new Orders({
    ...deps,
    gates: new Gates(redis, new SaleMemory()),
    changes: new OrderChanges(redis, log),
    charges: jobs,
    actionSeconds,
  })
  const unitsReturned = async () => {}
  const tracer = new Tracer({ ...deps, settings: config })
  const paying = { ...deps, redis, jobs, sales: { nowMs }, orders, unitsReturned, tracer }
  const { charges, captures } = await startPayments(paying)
  const sender = new Sender({ allowPrivate: true, allowHttp: true })
  const sealer = new SecretSealer(config.WEBHOOK_KEYS)
  const deliverer = new Deliverer({
    ...deps,
    sealer,
    sender,
    load: () => 'light',
    counts: new WebhookCounts(),
    trace: tracer.draw,
  })
  const mailer = createMailer({
    ...deps,
    keys: importSecrets(config.ORDER_KEYS ?? { keys: [] }),
    sender,
    trace: tracer.draw,
  })

  const isEmpty = async (queue: QueueName) =>
    (await sql`select from jobs where queue = ${queue} and state = 'pending' limit 1`).length === 0

  /** Runs the jobs of a queue until none waits, at the rate of its consumer. */
  async function run<Name extends QueueName>(queue: Name, consumer: Consumer<Name>): Promise<void> {
    const runner = new JobRunner(deps, [consumer])
    for (let rounds = 0; (await runner.round()) || !(await isEmpty(queue)); rounds++) {
      if (rounds === MAX_ROUNDS) throw new Error(`The jobs of the queue ${queue} do not end.`)
      await sleep(REST_MS)
    }
  }

  const all = async (round: () => Promise<boolean>) => {
    while (await round());
  }

  return {
    charges: () => run('charge', charges),
    comparison: () => charges.compare(),
    captures: () => run('capture', captures),
    search: () => all(searchRounds(sql, Number.POSITIVE_INFINITY)),
    counts: () => all(() => countOrders(sql)),
    webhookMessages: () => all(() => fanOut(sql)),
    webhooks: () => run('webhook', deliverer),
    mails: async () => {
      if (!mailer) throw new Error('No mail server is set.')
      await all(() => readMails(sql, mailer.channels, mailer.perAddress))
      await run('mail', mailer)
    },
    async close() {
      deliverer.stop()
      deliverer.close()
      mailer?.close()
      redis.disconnect()
      await sql.end({ timeout: 2 })
    },
  }
}
