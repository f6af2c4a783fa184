/** Records what the console shows during a sale whose payments are limited. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveReading } from '../../../shared/api/operators/live.ts'
import { type Check, check, ifAny } from '../../invariants/evidence.ts'
import { admin } from '../../lib/operator.ts'
import type { Target } from './records.ts'

const EVERY_MS = 1_000
const LIMITED = 'Payments are the limit'

/** Reads the sale as the console does, each second until it is stopped. */
export function watchConsole(to: Target, sale: string) {
  const said: string[] = []
  const stopping = new AbortController()
  const reading = (async () => {
    while (!stopping.signal.aborted) {
      const { summary } = (await (await admin(to, 'GET', `/sales/${sale}/live`)).json()) as LiveReading
      said.push(...summary.needs.flatMap(({ what }) => (what.startsWith(LIMITED) ? what : [])))
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()
  return async (): Promise<Check> => {
    stopping.abort()
    await reading
    return check(
      'the console says that payments are the limit',
      ifAny(said.length, true),
      said.at(0) ?? 'they never were',
    )
  }
}
