/**
 * Measures the visitors' search with ten thousand entries: queries with typing errors, beginnings, several words and
 * words written together. First it measures the search alone in this process, with a floor of one exact word in a map
 * of words. Then it measures the edge's whole response, one query after the other, and at a steady rate, where a
 * query may wait for earlier ones.
 */
import { loadSecrets } from '../../../dev/lib/data-folder.ts'
import { serveOnLoopback } from '../../../dev/lib/loopback.ts'
import { freePort, temporaryFolder } from '../../../dev/lib/processes.ts'
import { startEdge } from '../../../dev/servers/workerd.ts'
import type { ListedSale } from '../../../shared/api/front.ts'
import { entriesOf } from '../../../shared/search/entries.ts'
import { SearchIndex } from '../../../shared/search/search-index.ts'
import { wordsOf } from '../../../shared/search/words.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { requestText } from '../../lib/http.ts'
import { closedLoop, contest, flat, type Measured, median, type Next, nowMeasuring, openLoop } from '../load.ts'
import { type Aim, type Row, row, type Table } from '../rows.ts'
import type { Bench } from '../table.ts'

const SALES = 2_400
const PRODUCTS = 3
const VENUES = 400
const VOCABULARY = 8_000
const QUERIES = 200
/** The number of queries per second at a steady rate. */
const RATE = 100
const AIM: Aim = { p99Ms: 20 }
const SYNONYMS = [['home', 'house', 'residence', 'dwelling']]
const OPTIONS = { lang: 'en', limit: 20 } as const

export async function* findBySearch({ rounds, seconds }: Pick<Bench, 'rounds' | 'seconds'>): AsyncGenerator<Table> {
  const random = randomOf(7)
  const word = wordsBy(random)
  const sales = salesOf(word)
  const entries = entriesOf({ sales })
  nowMeasuring(`  the index of ${n(entries.length)} entries`)
  const index = SearchIndex.over(entries, SYNONYMS)
  const wrong = (text: string) => {
    const at = Math.floor(random() * text.length)
    return `${text.slice(0, at)}q${text.slice(at + 1)}`
  }
  const kinds: Readonly<Record<string, () => string>> = {
    'a word': word,
    'a word with a typing error': () => wrong(word()),
    'three words, two with errors': () => `${wrong(word())} ${word()} ${wrong(word())}`,
    'the two letters of a beginning': () => word().slice(0, 2),
    'two words written together': () => word() + word(),
  }
  const floor = exactWord(entries.map(({ name, description }) => `${name} ${description.en ?? ''}`))
  const floorOf = measure(rounds, word, floor)
  const rows: Row[] = Object.entries(kinds).map(([what, make]) => {
    nowMeasuring(`  a search for ${what}`)
    return row(
      what,
      measure(rounds, make, (q) => index.search(q, OPTIONS)),
      floorOf,
      AIM,
      null,
    )
  })
  yield {
    title: `Searches in ${n(entries.length)} entries, alone`,
    against: 'of the floor',
    rows: [...rows, row('floor: an exact word in a map', floorOf, null)],
  }
  const makers = Object.values(kinds)
  let asked = 0
  const query = () => makers[asked++ % makers.length]?.() ?? ''
  yield {
    title: `Searches of all kinds in ${n(entries.length)} entries, at the edge`,
    against: '',
    rows: await atEdge(sales, query, { rounds, seconds }),
  }
}

/** An edge whose origin is this process. */
async function atEdge(
  sales: readonly ListedSale[],
  query: () => string,
  { rounds, seconds }: Pick<Bench, 'rounds' | 'seconds'>,
): Promise<Row[]> {
  const listing = JSON.stringify({ version: 'bench', catalogue: { sales, synonyms: SYNONYMS }, states: {} })
  const known = JSON.stringify({ version: 'bench', catalogue: null, states: {} })
  const origin = await serveOnLoopback((request, response) => {
    response.setHeader('content-type', 'application/json').end(request.url?.endsWith('has=bench') ? known : listing)
  })
  const { path, remove } = temporaryFolder('bench')
  const { edgeToken, queueKeys, admissionKeys } = loadSecrets(path, undefined)
  const edge = await startEdge({
    port: await freePort(),
    originUrl: origin.url,
    dataDir: path,
    vars: {
      EDGE_TOKEN: edgeToken,
      QUEUE_KEYS: JSON.stringify(queueKeys),
      ADMISSION_KEYS: JSON.stringify(admissionKeys),
      ENVIRONMENT: 'development',
    },
  })
  try {
    nowMeasuring('  the index of the edge')
    const first = await fetch(`${edge.url}/search?q=first`)
    if (!first.ok) throw new Error(`The edge responded ${first.status} to a search.`)
    const next: Next = ({ host }) =>
      requestText('GET', `/search?q=${encodeURIComponent(query())}`, host, ['accept: application/json'])
    const load = { url: edge.url, pids: [edge.pid], seconds, next, right: 200 }
    const { one, steady } = await contest(rounds, {
      one: () => closedLoop(load, 1),
      steady: () => openLoop(load, RATE),
    })
    return [
      row('one after the other', one, null, AIM),
      row(`${RATE} a second, each with the wait for those before it`, steady, null, AIM),
    ]
  } finally {
    await edge.stop()
    origin.stop()
    remove()
  }
}

/** The latency of each query is the median of its rounds, which excludes occasional disturbances of the machine. */
function measure(rounds: number, make: () => string, search: (q: string) => unknown): Measured {
  const queries = Array.from({ length: QUERIES }, make)
  // The code is warmed up first.
  for (const q of queries) search(q)
  const times = queries.map((): number[] => [])
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  for (let round = 0; round < rounds; round++)
    for (const [i, q] of queries.entries()) {
      const beganMs = performance.now()
      search(q)
      times[i]?.push(performance.now() - beganMs)
    }
  const { user, system } = process.cpuUsage(cpu)
  const count = rounds * QUERIES
  const perSecond = (count * 1000) / (performance.now() - startedMs)
  const histogram = new Histogram()
  for (const each of times) histogram.add(median(each))
  return { ...flat(perSecond), ms: histogram.summary(), cpuMicros: (user + system) / count }
}

function exactWord(texts: readonly string[]) {
  const having = new Map<string, number[]>()
  for (const [i, text] of texts.entries())
    for (const { term } of wordsOf(text)) having.set(term, [...(having.get(term) ?? []).slice(-OPTIONS.limit), i])
  return (q: string) => having.get(q)?.slice(0, OPTIONS.limit)
}

// -- Invented words -------------------------------------------------------------------------------------------------

const SYLLABLES =
  'ba be bi bo ka ke ki ko la le li lo ma me mi mo na ne no ra re ri ro sa se so ta te to va ve za ze zo sha cho'.split(
    ' ',
  )

/** The sequence is the same in each run (a linear congruential generator). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/** Few words are frequent, as in a real text. */
function wordsBy(random: () => number): () => string {
  const syllable = () => SYLLABLES[Math.floor(random() * SYLLABLES.length)] ?? ''
  const words = Array.from({ length: VOCABULARY }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, syllable).join(''),
  )
  return () => words[Math.floor(random() ** 2 * words.length)] ?? ''
}

function salesOf(word: () => string): ListedSale[] {
  const text = (length: number) => Array.from({ length }, word).join(' ')
  const venues = Array.from({ length: VENUES }, () => text(2))
  return Array.from({ length: SALES }, (_, i) => ({
    sale: `sale-${i}`,
    name: text(3),
    opens_at: new Date(i).toISOString(),
    pre_queue_opens_at: new Date(i).toISOString(),
    ends_at: null,
    image: null,
    price_from_minor: 1_000,
    currency: 'EUR',
    prices_differ: false,
    venue: venues[i % VENUES] ?? null,
    shop: 'Halfway',
    products: Array.from({ length: PRODUCTS }, (_, product) => ({
      product_id: `p${product}`,
      name: text(3),
      description: { en: text(40) },
      tags: [word(), word()],
    })),
  }))
}
