/**
 * The words of an index and their variants: by beginning, typing error, sound, spelling as one word or two, and the
 * shop's synonyms.
 */
import { doubleMetaphone } from 'double-metaphone'
import SearchableMap from 'minisearch/SearchableMap'
import type { Synonyms } from '../api/front.ts'
import { fold, isStopWord, mayBeJoined, type Word, wordsOf } from './words.ts'

/** A possible meaning of a query's word. */
export interface Meaning {
  /** The index terms, which are all searched for. */
  readonly terms: readonly string[]
  /** The weight, from 0 to 1. */
  readonly weight: number
  /** The word as people write it. */
  readonly surface: string
  readonly by: 'itself' | 'spacing' | 'synonym' | 'beginning' | 'typing error' | 'sound'
}

interface Known {
  readonly terms: readonly string[]
  /** The spelling in which the word was first found. */
  readonly surface: string
  count: number
  /** The number of occurrences in names and tags. */
  named: number
}

/** At most this many meanings of one kind are considered, because a beginning of one letter has thousands. */
const MAX_MEANINGS = 8
/** A shorter beginning is looked up in names and tags only, because texts have too many words with it. */
const LONG_BEGINNING = 3
export const isShort = (beginning: string) => beginning.length < LONG_BEGINNING
/** Shorter words or sound codes are alike too often. */
const MIN_SOUND = { letters: 5, code: 3 }
/** In codes of at least this length one letter may differ: "Swarzeneger" has a J where "Schwarzenegger" has a K. */
const LONG_SOUND = 6
const LATIN = /^[a-z]+$/

/** The number of wrong letters that are allowed. */
const errorsIn = (term: string) => (term.length < 4 ? 0 : term.length < 8 ? 1 : 2)

export class Vocabulary {
  readonly #words = new SearchableMap<Known>()
  /** Neighbouring words as if they were written together. */
  readonly #joined = new SearchableMap<Known>()
  /** The words by each of their sounds. */
  readonly #sounds = new SearchableMap<Set<string>>()
  readonly #synonyms = new Map<string, Known[]>()

  constructor(synonyms: Synonyms) {
    for (const group of synonyms) {
      const phrases = group.map(phraseOf)
      for (const { surface } of phrases) {
        const others = phrases.filter((one) => one.surface !== surface && one.terms.length > 0)
        this.#synonyms.set(surface, [...(this.#synonyms.get(surface) ?? []), ...others])
      }
    }
  }

  /** Adds the words of a text, and for a name also its neighbouring words as one. Returns the terms. */
  learn(text: string, isName: boolean): string[] {
    const words = wordsOf(text)
    words.forEach((word, i) => {
      const surface = text.slice(word.from, word.to)
      if (meet(this.#words, word.term, [word.term], surface, isName)) this.#hear(word.term)
      const next = words[i + 1]
      if (isName && next && mayBeJoined(text, word, next)) {
        const both = text.slice(word.from, next.to)
        meet(this.#joined, word.term + next.term, [word.term, next.term], both, isName)
      }
    })
    return words.map(({ term }) => term)
  }

  #hear(term: string): void {
    for (const code of soundsOf(term)) {
      const alike = this.#sounds.get(code) ?? new Set()
      this.#sounds.set(code, alike.add(term))
    }
  }

  /** The possible meanings of a word, the most likely first. If `isTyped`, the word may be incomplete. */
  meaningsOf(term: string, isTyped: boolean): Meaning[] {
    return [
      ...this.#itself(term),
      ...this.#synonymsOf(term),
      ...(isTyped || !this.#words.has(term)
        ? this.completions(term).filter(({ terms }) => !isLonger(terms, term))
        : []),
    ]
  }

  /** Guesses for a word without a meaning. They are searched among all words, which takes some milliseconds. */
  guessesOf(term: string): Meaning[] {
    return [...this.#misspelt(term), ...this.#soundingLike(term)]
  }

  /** The meanings of two words that are one word in the index, or that together have a synonym. */
  joinedMeaningsOf(first: string, second: string): Meaning[] {
    const one = this.#words.get(first + second)
    const joined = one ? [asMeaning(one, 'spacing', 1)] : []
    return [...joined, ...this.#synonymsOf(`${first} ${second}`)]
  }

  #itself(term: string): Meaning[] {
    const word = this.#words.get(term)
    const joined = this.#joined.get(term)
    return [
      ...(word ? [asMeaning(word, 'itself', 1)] : []),
      ...(joined ? [asMeaning(joined, 'spacing', word ? 0.8 : 1)] : []),
    ]
  }

  #synonymsOf(phrase: string): Meaning[] {
    const known = (this.#synonyms.get(phrase) ?? []).filter(({ terms }) => terms.every((term) => this.#words.has(term)))
    return known.map((one) => asMeaning(one, 'synonym', 0.7))
  }

  /** Longer words that begin with this text, the most frequent first, without stop words. */
  completions(beginning: string): Meaning[] {
    const longer: Known[] = []
    for (const map of [this.#words, this.#joined])
      for (const [term, known] of map.atPrefix(beginning))
        if (term !== beginning && !isStopWord(known.terms.at(-1) ?? '')) longer.push(known)
    const by = isShort(beginning) ? 'named' : 'count'
    return longer
      .filter((known) => known[by] > 0)
      .sort((a, b) => b[by] - a[by])
      .slice(0, MAX_MEANINGS)
      .map((known) => asMeaning(known, 'beginning', 0.6))
  }

  #misspelt(term: string): Meaning[] {
    const most = errorsIn(term)
    if (most === 0) return []
    const near: { known: Known; errors: number; longer: number }[] = []
    for (const map of [this.#words, this.#joined])
      for (const [found, [known, errors]] of map.fuzzyGet(term, most))
        near.push({ known, errors, longer: Math.abs(found.length - term.length) })
    return near
      .sort((a, b) => a.errors - b.errors || a.longer - b.longer || b.known.count - a.known.count)
      .slice(0, MAX_MEANINGS)
      .map(({ known, errors }) => asMeaning(known, 'typing error', 0.5 / errors))
  }

  /** Finds words with the same sound, or otherwise with a slightly different one. */
  #soundingLike(term: string): Meaning[] {
    const heard = soundsOf(term).flatMap((code) => [
      ...this.#sounds.fuzzyGet(code, code.length < LONG_SOUND ? 0 : 1).values(),
    ])
    const nearest = Math.min(...heard.map(([, differences]) => differences))
    const alike = new Set(heard.flatMap(([words, differences]) => (differences === nearest ? [...words] : [])))
    const known = [...alike].flatMap((word) => this.#words.get(word) ?? [])
    return known
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_MEANINGS)
      .map((one) => asMeaning(one, 'sound', 0.3))
  }
}

/** True for two words of which the first already continues the typed text. */
const isLonger = (terms: readonly string[], beginning: string) =>
  terms.length > 1 && terms[0]?.startsWith(beginning) === true

const asMeaning = ({ terms, surface }: Known, by: Meaning['by'], weight: number): Meaning => ({
  terms,
  surface,
  by,
  weight,
})

/** Counts a word. Returns true if it was not known. */
function meet(
  map: SearchableMap<Known>,
  term: string,
  terms: readonly string[],
  written: string,
  isName: boolean,
): boolean {
  const known = map.get(term)
  if (!known) map.set(term, { terms, surface: written.toLowerCase(), count: 1, named: Number(isName) })
  else {
    known.count++
    known.named += Number(isName)
  }
  return !known
}

function phraseOf(text: string): Known {
  const terms = wordsOf(text).map(({ term }: Word) => term)
  return { terms, surface: terms.join(' '), count: 0, named: 0 }
}

function soundsOf(term: string): string[] {
  const plain = fold(term)
  if (plain.length < MIN_SOUND.letters || !LATIN.test(plain)) return []
  return [...new Set(doubleMetaphone(plain))].filter((code) => code.length >= MIN_SOUND.code)
}
