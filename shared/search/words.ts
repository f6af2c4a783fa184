/** Splits a text into the words of an index, folded so that case, accents and variants of scripts do not matter. */

import { sameName } from '../lib/text.ts'

/** A word of a text with its position: `text.slice(from, to)`. */
export interface Word {
  readonly term: string
  readonly from: number
  readonly to: number
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu
const ASCII = /^[\0-\x7f]*$/
/** Scripts without spaces. */
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu

/** Combining marks of Latin letters, and the vowel signs of Arabic. */
const MARKS = /[\u0300-\u036f\u064b-\u065f\u0670]/g
/** Letters that no Unicode normal form decomposes. */
const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ı: 'i' }

export const fold = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : text
        .toLowerCase()
        .normalize('NFKD')
        .replace(MARKS, '')
        .normalize('NFC')
        .replace(/[ßæœøđðłı]/g, (letter) => LETTERS[letter] ?? letter)

/**
 * A text in a script without spaces is split into pairs of letters. Positions are those of the text as it was given.
 */
export function wordsOf(given: string): Word[] {
  const { text, positions } = composeText(given)
  const words = wordsIn(text)
  if (positions === undefined) return words
  return words.map(({ term, from, to }) => ({ term, from: positions[from] ?? 0, to: positions[to] ?? given.length }))
}

/** A letter with its marks, to which the half-width voiced marks of Katakana belong. */
const LETTER = /[^\p{M}\uff9e\uff9f][\p{M}\uff9e\uff9f]*|./gsu

/**
 * A text in one form of Unicode (NFKC, UAX #15), since letters and marks written apart, or half-width, would be split
 * differently; and for each of its characters, where in the given text its letter begins.
 */
function composeText(given: string): { text: string; positions?: readonly number[] } {
  if (ASCII.test(given) || given === given.normalize('NFKC')) return { text: given }
  const positions: number[] = []
  let text = ''
  for (const { 0: letter, index } of given.matchAll(LETTER)) {
    const one = letter.normalize('NFKC')
    for (let i = 0; i < one.length; i++) positions.push(index)
    text += one
  }
  return { text, positions }
}

function wordsIn(text: string): Word[] {
  const words: Word[] = []
  for (const { 0: found, index } of text.matchAll(WORD)) {
    let at = 0
    for (const { 0: run, index: from } of ASCII.test(found) ? [] : found.matchAll(SPACELESS)) {
      add(words, found.slice(at, from), index + at)
      words.push(...pairsOf(run, index + from))
      at = from + run.length
    }
    add(words, found.slice(at), index + at)
  }
  return words
}

function add(words: Word[], found: string, from: number): void {
  const term = fold(found)
  if (term !== '') words.push({ term, from, to: from + found.length })
}

function pairsOf(run: string, at: number): Word[] {
  const letters = [...run]
  let from = at
  return letters.slice(0, Math.max(1, letters.length - 1)).map((letter, i) => {
    const pair = letter + (letters[i + 1] ?? '')
    const word = { term: fold(pair), from, to: from + pair.length }
    from += letter.length
    return word
  })
}

/** True if two neighbouring words may also be written as one: "T-shirt", "New York". */
export const mayBeJoined = (text: string, a: Word, b: Word): boolean =>
  b.from > a.to && /^[ \u00a0\-_'’./&]{1,3}$/.test(text.slice(a.to, b.from))

/** Words that a search may ignore, in the pages' languages. */
const STOP_WORDS = new Set(
  [
    'a an and are as at be by for from in into is it of on or that the this to with',
    'am an auf aus bei das dem den der des die ein eine einem einen einer eines es fur im in ist mit nach oder ' +
      'und von vom zu zum zur',
    'au aux avec ce ces cette d de des dans du elle en est et il je l la le les leur ou par pas pour que qui se ' +
      'sur un une',
    'al con de del el ella en es esta este la las lo los o para por que se su sus un una uno y',
    'の に は を た が で て と し れ さ ある いる も する から な こと として',
    'من في على الى إلى عن مع هذا هذه التي الذي و أو او ان ال ما لا',
  ].flatMap((words) => words.split(' ').map(fold)),
)

/** The words to search for: without stop words, unless there are no others. */
export function meantWords(words: readonly Word[]): readonly Word[] {
  const meant = words.filter(({ term }) => !STOP_WORDS.has(term))
  return meant.length > 0 ? meant : words
}

export const isStopWord = (term: string) => STOP_WORDS.has(term)

/**
 * A visitor's latest searches: at most ten, the newest first, without duplicates that differ only in case or spaces.
 */
export const MAX_RECENT = 10

export const asTyped = (q: string): string => q.trim().replace(/\s+/g, ' ')

/** A key that is the same for searches that differ only in case or spaces. */
export const sameSearch = (q: string): string => sameName(asTyped(q))

export const latestFirst = (searches: readonly string[], q: string): string[] =>
  [asTyped(q), ...searches.filter((one) => sameSearch(one) !== sameSearch(q))].filter(Boolean).slice(0, MAX_RECENT)
