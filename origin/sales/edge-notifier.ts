/** Telling the edge to look again after an operator's change, so that it need not wait for its next look. */
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { shouldLog } from '../lib/loop.ts'

const ATTEMPTS = 4
const WITHIN_MS = 2_000

/** Best effort, behind the answer: the edge looks by itself as well. */
export function edgeTeller({ EDGE_URL, EDGE_TOKEN }: Config, log: Logger): (sale: string) => void {
  if (!EDGE_URL) return () => {}
  let refused = 0
  const tell = async (sale: string) => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        const response = await fetch(new URL(`/internal/sales/${sale}/refresh`, EDGE_URL), {
          method: 'POST',
          headers: { authorization: `Bearer ${EDGE_TOKEN}` },
          signal: AbortSignal.timeout(WITHIN_MS),
        })
        await response.body?.cancel()
        if (response.ok) refused = 0
        else if (response.status < 500 || attempt === ATTEMPTS) noteRefusal(sale, response.status)
        if (response.status < 500) return
      } catch (error) {
        log.debug({ sale, attempt, error: String(error) }, 'the edge was not told')
      }
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt * (0.5 + Math.random())))
    }
  }
  /** With another EDGE_TOKEN there, say, nobody can be served. One that is only busy can be told by the last attempt. */
  function noteRefusal(sale: string, status: number): void {
    refused++
    const why = status < 500 ? 'are EDGE_URL and EDGE_TOKEN right?' : 'what does its own log say?'
    if (shouldLog(refused)) log.warn({ sale, status, refused }, `the edge refused to be told: ${why}`)
  }
  return (sale) => void tell(sale)
}
