/**
 * The visitors' search at ten thousand entries, as the edge does it: queries with typing errors, beginnings, several words and
 * words written together, beside the floor of one exact word in a map of words. In this process, since nothing is sent.
 */
import type { ListedSale } from '../../../shared/api/front.ts'
import { entriesOf } from '../../../shared/search/entries.ts'
import { SearchIndex } from '../../../shared/search/search-index.ts'
import { wordsOf } from '../../../shared/search/words.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { flat, type Measured, nowMeasuring } from '../load.ts'
import { type Aim, type Row, row, type Table } from '../rows.ts'
import type { Bench } from '../table.ts'

const SALES = 2_400
const PRODUCTS = 3
const VENUES = 400
const VOCABULARY = 8_000
const QUERIES = 200
const AIM: Aim = { p99Ms: 20 }
const OPTIONS = { lang: 'en', limit: 20 } as const

export async function* findBySearch({ rounds }: Pick<Bench, 'rounds'>): AsyncGenerator<Table> {
  const random = randomOf(7)
  const word = wordsBy(random)
  const entries = entriesOf({ sales: salesOf(word) })
  nowMeasuring(`  the index of ${n(entries.length)} entries`)
  const index = SearchIndex.over(entries, [['home', 'house', 'residence', 'dwelling']])
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
    title: `Searches in ${n(entries.length)} entries`,
    against: 'of the floor',
    rows: [...rows, row('floor: an exact word in a map', floorOf, null)],
  }
}

function measure(rounds: number, make: () => string, search: (q: string) => unknown): Measured {
  const histogram = new Histogram()
  const queries = Array.from({ length: QUERIES }, make)
  // Code becomes warm.
  for (const q of queries) search(q)
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  for (let round = 0; round < rounds; round++)
    for (const q of queries) {
      const beganMs = performance.now()
      search(q)
      histogram.add(performance.now() - beganMs)
    }
  const ms = histogram.summary()
  const { user, system } = process.cpuUsage(cpu)
  const perSecond = (ms.count * 1000) / (performance.now() - startedMs)
  return { ...flat(perSecond), ms, cpuMicros: (user + system) / ms.count }
}

function exactWord(texts: readonly string[]) {
  const having = new Map<string, number[]>()
  for (const [i, text] of texts.entries())
    for (const { term } of wordsOf(text)) having.set(term, [...(having.get(term) ?? []).slice(-OPTIONS.limit), i])
  return (q: string) => having.get(q)?.slice(0, OPTIONS.limit)
}

// -- Invented words --------------------------------------------------------------------------------------------------------

const SYLLABLES =
  'ba be bi bo ka ke ki ko la le li lo ma me mi mo na ne no ra re ri ro sa se so ta te to va ve za ze zo sha cho'.split(
    ' ',
  )

/** The same in each run (a linear congruential generator). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/** Few words are frequent, as in a text. */
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
