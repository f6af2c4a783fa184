/** Clients without cookies that come to a protected site: they join, poll as told, and stay for a while. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueueAnswer } from '../../../shared/api/public.ts'
import { type Answer, HttpClient, requestText } from '../../lib/http.ts'

/** The time between two requests of a visitor of the site. */
const CLICK_MS = 4_000
const RETRY_MS = 1_000

interface Crowd {
  readonly edgeUrl: string
  readonly sale: string
  readonly clients: number
  /** All clients come within this time. */
  readonly spreadMs: number
  /** How long a visitor stays on the site; read again for each. */
  stayMs(): number
}

/** Plays until the signal aborts: whoever has left the site comes back to the end of the line. */
export async function playClients(crowd: Crowd, signal: AbortSignal): Promise<void> {
  const http = new HttpClient({ url: crowd.edgeUrl, connections: 512 })
  const ask = (method: string, path: string, token?: string) =>
    new Promise<Answer>((answered) =>
      http.send(
        requestText(method, path, http.host, token === undefined ? [] : [`authorization: Bearer ${token}`]),
        answered,
      ),
    )
  const isOver = () => signal.aborted
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {})

  async function visit(): Promise<void> {
    const joined = await ask('POST', `/sales/${crowd.sale}/queue`)
    if (joined.status !== 201) return pause(RETRY_MS)
    let place = JSON.parse(joined.body) as QueueAnswer
    const token = place.queue_token ?? ''
    while (place.status !== 'ready' && place.status !== 'missed_turn') {
      await pause(place.poll_after_ms)
      if (isOver()) return
      const answer = await ask('GET', `/sales/${crowd.sale}/queue/status`, token)
      if (answer.status === 200) place = JSON.parse(answer.body) as QueueAnswer
    }
    const { admission_token: admission } = place
    if (admission === undefined) return
    const leavesAtMs = performance.now() + crowd.stayMs()
    while (performance.now() < leavesAtMs && !isOver()) {
      await ask('GET', '/checkout', admission)
      await pause(CLICK_MS)
    }
    await ask('GET', '/checkout/done', admission)
  }

  const play = async (i: number) => {
    await pause((i / crowd.clients) * crowd.spreadMs)
    while (!isOver()) await visit()
  }
  await Promise.all(Array.from({ length: crowd.clients }, (_, i) => play(i)))
  http.close()
}
