/** Checks that the shop front and the feed behind a cache cost no more with a crowd than with a few visitors. */
import { n } from '../lib/figures.ts'
import { type Check, check, type Evidence, type FrontRecord, ifAny } from './evidence.ts'
import { mostWithin } from './queue-checks.ts'

const WINDOW_MS = 1_000

export function frontChecks({ front }: Pick<Evidence, 'front'>): Check[] {
  if (!front) return []
  const { fetches, requests, isWhole } = front
  const asked = requests.front + requests.feed
  const { texts = [], pages = [] } = Object.groupBy(fetches, ({ path }) => (isFreeText(path) ? 'texts' : 'pages'))
  const byPage = [...Map.groupBy(pages, ({ path }) => path)]
  const worst = byPage
    .map(([path, list]) => ({ path, most: mostWithin(withoutPurged(path, list, front), WINDOW_MS) }))
    .reduce((high, page) => (page.most > high.most ? page : high), { path: 'none', most: 0 })
  return [
    check(
      'each page of the front and the feed runs a Worker once a second at most',
      isWhole ? ifAny(asked, worst.most <= 1) : null,
      isWhole
        ? `${n(asked)} requests of ${n(byPage.length)} pages, ${n(pages.length)} ran a Worker, at most ` +
            `${n(worst.most)} within a second (${worst.path}); apart from them ${n(requests.search)} searches of ` +
            `free text: ${n(new Set(texts.map(({ path }) => path)).size)} texts, ${n(texts.length)} ran a Worker`
        : 'more requests than the cache could write down',
    ),
  ]
}

/** Each typed text has its own page. Completions are for the beginnings of words, which many visitors share. */
const isFreeText = (path: string) => path.startsWith('/search?')

/** The times of fetches, without those of a sale that only replace what was purged. */
function withoutPurged(path: string, fetches: FrontRecord['fetches'], { purgesMs }: FrontRecord): number[] {
  const times = fetches.map(({ atMs }) => atMs).sort((a, b) => a - b)
  if (!path.startsWith('/sales/')) return times
  return times.filter((atMs, i) => !purgesMs.some((purgedMs) => purgedMs <= atMs && purgedMs > (times[i - 1] ?? 0)))
}
