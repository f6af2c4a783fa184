/** The operators' calls for alerts: where they go, from which severity, and whether they arrive. */
import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import {
  ALERT_CHANNELS,
  type AlertChannelState,
  AlertLevels,
  type AlertTest,
} from '../../shared/api/operators/alerts.ts'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody } from '../lib/http/request.ts'
import { operatorOf, requireRole } from '../operators/operator-auth.ts'
import { testAlert } from './alert.ts'
import { readErrors, readLevels, writeLevels } from './alert-queries.ts'
import type { AlertChannels } from './channels.ts'

interface AlertDeps {
  readonly sql: Sql
  readonly alertChannels: AlertChannels
}

export function alertRoutes({ sql, alertChannels: channels }: AlertDeps) {
  const states = async (): Promise<{ channels: AlertChannelState[] }> => {
    const [levels, errors] = await Promise.all([readLevels(sql), readErrors(sql)])
    const targets = channels.targets()
    return {
      channels: ALERT_CHANNELS.map((channel) => ({
        channel,
        target: targets[channel],
        level: levels[channel],
        error: errors.get(channel) ?? null,
      })),
    }
  }
  return new Hono()
    .get('/alerts', async (c) => c.json(await states()))

    .put('/alerts', requireRole('owner'), jsonBody(AlertLevels), async (c) => {
      await writeLevels(sql, c.req.valid('json'), operatorOf(c))
      return c.json(await states())
    })

    .post('/alerts/test', async (c) => {
      const operator = operatorOf(c)
      const alert = testAlert(operator, new Date().toISOString(), channels.consoleUrl)
      const targets = channels.targets()
      const id = randomUUID()
      const sent = await Promise.all(
        ALERT_CHANNELS.filter((channel) => targets[channel] !== null).map(async (channel): Promise<AlertTest> => {
          const error = await channels.send(channel, alert, id).then(
            () => null,
            (thrown: Error) => thrown.message,
          )
          return { channel, error }
        }),
      )
      await audit(sql, [{ actor: operator, action: 'alerts tested', sale: ALL_SALES, after: { sent } }])
      return c.json({ sent })
    })
}
