/**
 * Searches a catalogue's entries with an inverted index (MiniSearch) of exact words, and a vocabulary that decides
 * which words a query means. Edge and browser use the same code. Pure, and built once for each version.
 */

import MiniSearch, { type Query } from 'minisearch'
import type { Language } from '../api/fields.ts'
import type { Synonyms } from '../api/front.ts'
import { descriptionIn, type Entry, titleIn } from './entries.ts'
import { type Marked, snippetOf } from './marks.ts'
import { isShort, type Meaning, Vocabulary } from './vocabulary.ts'
import { mayBeJoined, meantWords, type Word, wordsOf } from './words.ts'

/** The maximum length of a query in characters, and the number of its words that count. */
export const MAX_QUERY = 200
const MAX_WORDS = 10
/**
 * At most this many words of a query are corrected. Each takes some milliseconds of the edge, and a query with more
 * unknown words has no mere typing errors.
 */
const MAX_CORRECTED = 3
/** One step indexes this many entries. */
const STEP = 50
const WEIGHTS = { title: 10, tags: 5, description: 3, body: 1 } as const
type Field = keyof typeof WEIGHTS

export interface Hit {
  readonly entry: Entry
  readonly title: string
  readonly snippet: string
  readonly score: number
}

export interface Found {
  readonly query: string
  /** The words that were searched for instead of the query's. */
  readonly corrected?: string
  /** The words that were searched for, if they are a guess based on a typing error or a sound. */
  readonly did_you_mean?: string
  readonly hits: readonly Hit[]
  /** The terms that are marked in texts. */
  readonly marked: Marked
}

/** A part of a query with its possible meanings. */
interface Slot {
  readonly from: number
  readonly to: number
  readonly term: string
  readonly meanings: readonly Meaning[]
}

interface Options {
  readonly lang: Language
  readonly limit: number
}

export class SearchIndex {
  readonly #entries: readonly Entry[]
  readonly #vocabulary: Vocabulary
  readonly #index: MiniSearch<Entry>

  private constructor(entries: readonly Entry[], synonyms: Synonyms) {
    this.#entries = entries
    const vocabulary = new Vocabulary(synonyms)
    this.#vocabulary = vocabulary
    this.#index = new MiniSearch<Entry>({
      fields: Object.keys(WEIGHTS),
      extractField: (entry, field) => (field === 'id' ? entry.id : TEXTS[field as Field](entry)) as string,
      tokenize: (text, field) => vocabulary.learn(text, field === 'title' || field === 'tags'),
      processTerm: (term) => term,
      // The words of a query are already terms.
      searchOptions: { boost: WEIGHTS, tokenize: (term) => [term], processTerm: (term) => term },
    })
  }

  static over(entries: readonly Entry[], synonyms: Synonyms): SearchIndex {
    const made = new SearchIndex(entries, synonyms)
    made.#index.addAll(entries)
    return made
  }

  /**
   * Builds the index in steps of some milliseconds, with a pause after each, so that other work does not wait for
   * thousands of entries.
   */
  static async inSteps(
    entries: readonly Entry[],
    synonyms: Synonyms,
    pause: () => Promise<unknown>,
  ): Promise<SearchIndex> {
    const made = new SearchIndex(entries, synonyms)
    for (let at = 0; at < entries.length; at += STEP) {
      made.#index.addAll(entries.slice(at, at + STEP))
      await pause()
    }
    return made
  }

  search(query: string, { lang, limit }: Options): Found {
    const words = wordsOf(query)
    const meant = meantWords(words).slice(0, MAX_WORDS)
    const slots = this.#slotsOf(meant, true)
    const results = this.#lookUp(query, meant, slots)
    const marked = markedBy(slots)
    const hits = results.slice(0, limit).flatMap(({ id, score }) => {
      const entry = this.#entries[id as number]
      if (!entry) return []
      const snippet = snippetOf(descriptionIn(entry, lang) || entry.body, marked)
      return [{ entry, title: titleIn(entry, lang), snippet, score: Math.round(score * 100) / 100 }]
    })
    return { query, ...(hits.length > 0 && corrections(query, slots)), hits, marked }
  }

  /** Complete queries that begin like this one, the most likely first. */
  complete(query: string, limit: number): string[] {
    const last = wordsOf(query).at(-1)
    if (!last || last.to !== query.trimEnd().length || query.endsWith(' ')) return []
    const before = query.slice(0, last.from)
    const others = meantWords(wordsOf(before)).slice(0, MAX_WORDS)
    const exact = this.#slotsOf(others, false)
    const fits = ({ terms, weight, surface, by }: Meaning) => {
      const slot = { ...last, meanings: [{ terms, weight, surface, by }] }
      return others.length === 0 || this.#withAll([[...exact, slot]]).length > 0
    }
    return this.#vocabulary
      .completions(last.term)
      .filter(fits)
      .map(({ surface }) => before + surface)
      .slice(0, limit)
  }

  /** If `isTyped`, the last word may be incomplete. */
  #slotsOf(words: readonly Word[], isTyped: boolean): Slot[] {
    let corrected = 0
    return words.map(({ term, from, to }, i) => {
      const known = this.#vocabulary.meaningsOf(term, isTyped && i === words.length - 1)
      const meanings = known.length > 0 || corrected++ >= MAX_CORRECTED ? known : this.#vocabulary.guessesOf(term)
      return { term, from, to, meanings }
    })
  }

  /** Finds the entries with all of the words, or if there are none, with any of them. */
  #lookUp(query: string, words: readonly Word[], slots: readonly Slot[]) {
    const results = this.#withAll([slots, ...this.#joinings(query, words, slots)])
    const any = slots.filter(hasMeaning)
    if (results.length > 0 || any.length === 0 || slots.length === 1) return results
    return this.#index.search({ combineWith: 'OR', queries: any.map(queryOf) })
  }

  /** Finds the entries with all words of one of these readings. */
  #withAll(readings: readonly (readonly Slot[])[]) {
    const possible = readings.filter((slots) => slots.length > 0 && slots.every(hasMeaning))
    const queries = possible.map((slots): Query => ({ combineWith: 'AND', queries: slots.map(queryOf) }))
    return queries.length > 0 ? this.#index.search({ combineWith: 'OR', queries }) : []
  }

  /** Readings of the query in which two neighbouring words are one. */
  #joinings(query: string, words: readonly Word[], slots: readonly Slot[]): Slot[][] {
    return words.slice(0, -1).flatMap((word, i) => {
      const next = words[i + 1]
      if (!next || !mayBeJoined(query, word, next)) return []
      const meanings = this.#vocabulary.joinedMeaningsOf(word.term, next.term)
      const joined = { from: word.from, to: next.to, term: word.term + next.term, meanings }
      return meanings.length > 0 ? [slots.toSpliced(i, 2, joined)] : []
    })
  }
}

/** The texts are in all languages, because each visitor searches in their own. */
const TEXTS: Readonly<Record<Field, (entry: Entry) => string>> = {
  title: ({ name, names = {} }) => [...new Set([name, ...Object.values(names)])].join('\n'),
  tags: ({ tags }) => tags.join('\n'),
  description: ({ description }) => Object.values(description).join('\n'),
  body: ({ body }) => body,
}

const hasMeaning = ({ meanings }: Slot) => meanings.length > 0

const queryOf = ({ term, meanings }: Slot): Query => ({
  combineWith: 'OR',
  queries: meanings.map(({ terms, weight, by }) => ({
    combineWith: 'AND',
    queries: [...terms],
    boostTerm: () => weight,
    ...(by === 'beginning' && isShort(term) && { fields: ['title', 'tags'] }),
  })),
})

/** The query with the most likely word in place of each that the index does not have. */
function corrections(query: string, slots: readonly Slot[]): Pick<Found, 'corrected' | 'did_you_mean'> {
  const wrong = slots.flatMap((slot) => {
    const [best] = slot.meanings
    return best && /^(spacing|typing error|sound)$/.test(best.by) ? [{ ...slot, best }] : []
  })
  if (wrong.length === 0) return {}
  const corrected = wrong.reduceRight(
    (text, { from, to, best }) => text.slice(0, from) + best.surface + text.slice(to),
    query,
  )
  const isGuess = wrong.some(({ best }) => best.by !== 'spacing')
  return { corrected, ...(isGuess && { did_you_mean: corrected }) }
}

function markedBy(slots: readonly Slot[]): Marked {
  const meanings = slots.flatMap((slot) => slot.meanings.map((meaning) => ({ ...meaning, typed: slot.term })))
  const isBeginning = ({ by, terms }: Meaning) => by === 'beginning' && terms.length === 1
  return {
    terms: new Set(meanings.filter((one) => !isBeginning(one)).flatMap(({ terms }) => terms)),
    beginnings: [...new Set(meanings.filter(isBeginning).map(({ typed }) => typed))],
  }
}
