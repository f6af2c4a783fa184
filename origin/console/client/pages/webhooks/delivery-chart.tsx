/** The messages of an endpoint in the last quarter of an hour: those sent, by their time, and those that wait. */
import { useQuery } from '@tanstack/preact-query'
import type { WebhookHistory } from '../../../../../shared/api/operators/answers.ts'
import { count, minuteOf } from '../../format.ts'
import { Failure } from '../../parts.tsx'
import { barsPath, gridPath, scaleOf, timeTicks, VIEW_BOX } from '../../sheet/chart-paths.ts'
import { Icon } from '../../sheet/icon.tsx'
import { type Endpoint, readHistory } from './calls.ts'

const REFRESH_MS = 5_000
/** The most lines of the grid, and the most times below. */
const LINES = 3
const TIMES = 6

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

export function DeliveryChart({ endpoint, reason }: { readonly endpoint: Endpoint; readonly reason: string | null }) {
  const { data, error } = useQuery({
    queryKey: ['webhook history', endpoint.endpoint],
    queryFn: () => readHistory(endpoint.endpoint),
    refetchInterval: REFRESH_MS,
  })
  return (
    <>
      <Failure error={error} />
      {data && <Drawing history={data} since={endpoint.fails_since ?? null} reason={reason} />}
    </>
  )
}

interface DrawingProps {
  readonly history: WebhookHistory
  /** The time since which it fails, and why. */
  readonly since: string | null
  readonly reason: string | null
}

function Drawing({ history: { steps, step_seconds }, since, reason }: DrawingProps) {
  const [sent, failed, waiting] = (['sent', 'failed', 'waiting'] as const).map((name) => steps.map((one) => one[name]))
  if (!sent || !failed || !waiting) return null
  const [sents, fails, waits] = [sumOf(sent), sumOf(failed), sumOf(waiting)]
  const fromMs = Date.parse(steps[0]?.at ?? '')
  const toMs = fromMs + 1000 * step_seconds * steps.length
  const share = (atMs: number) => (100 * (atMs - fromMs)) / (toMs - fromMs)
  const stacked = steps.map((one) => one.sent + one.failed + one.waiting)
  const scale = scaleOf(stacked, LINES)
  const bottoms = sent.map((value, i) => value + (failed[i] ?? 0))
  const sinceShare = since === null ? null : share(Date.parse(since))
  if (sents + fails + waits === 0) return <p class="small quiet">Nothing was sent in the last 15 minutes.</p>
  const text = `${count(sents)} sent, ${count(fails)} attempts failed, ${count(waits)} wait`
  return (
    <>
      <header class="row">
        <h3>Messages, each {step_seconds} seconds</h3>
        <p class="key">
          <span>
            <i style="--c: var(--c1)" />
            sent <b>{count(sents)}</b>
          </span>
          <span>
            <i style="--c: var(--c4)" />
            failed attempts <b>{count(fails)}</b>
          </span>
          <span>
            <i style="--c: var(--c2)" />
            waiting <b>{count(waits)}</b>
          </span>
        </p>
      </header>
      <div class="chart" role="img" aria-label={`The last ${Math.round((toMs - fromMs) / 60_000)} minutes: ${text}`}>
        <div class="yy">
          {scale.ticks.map((tick) => (
            <span key={tick} style={`bottom: ${(100 * tick) / scale.top}%`}>
              {count(tick)}
            </span>
          ))}
        </div>
        <div class="pane" style="--h: 7rem">
          <svg class="plot" viewBox={VIEW_BOX} preserveAspectRatio="none" aria-hidden="true">
            <path class="grid" d={gridPath(scale)} />
            <path class="bar" style="--c: var(--c1)" d={barsPath(sent, scale.top)} />
            <path class="bar" style="--c: var(--c4)" d={barsPath(failed, scale.top, sent)} />
            <path class="bar" style="--c: var(--c2)" d={barsPath(waiting, scale.top, bottoms)} />
          </svg>
          {sinceShare !== null && sinceShare > 0 && (
            <div class={sinceShare > 60 ? 'over back' : 'over'} style={`--x: ${sinceShare}%`}>
              <span>
                <Icon name="warn" />
                <b>{reason?.split(':')[0]}</b>
              </span>
            </div>
          )}
        </div>
        <div class="xx">
          {timeTicks(fromMs, toMs, TIMES).map((atMs) => (
            <span key={atMs} style={`--x: ${share(atMs)}%`}>
              {minuteOf(atMs)}
            </span>
          ))}
        </div>
      </div>
    </>
  )
}
