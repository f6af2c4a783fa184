/**
 * Checks that comments are sentences and lines are short: a comment that begins with one of the words below is nearly
 * always half a sentence, which nobody understands without the code under it. `npm run check` runs it.
 *
 *     node dev/prose.ts
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A sentence of a manual rarely begins so. */
const HALF =
  /^(Of|By|As|So|Those|That|Its|Whose|Most|More|Once|Who|Whoever|Whether|Besides?|Without|From|To|Below|Between|Among|Behind|Than|Such|An?other|Other|Some|Likewise|Also|Never|Not|Only|Else|Nothing|Nobody)\b[^?]*$/
const MAX_COLUMNS = 120
/** Markup of pages and names of tests have lines that no break improves: in all at most so many. */
const MAX_LONG_LINES = 100
/** The pages of figures, which have a row for each number. A row is one line, so it may be longer. */
const FIGURES = ['docs/measurements.md', 'docs/decisions.md']
const MAX_ROW_COLUMNS = 160

/** The comments of a source text in TypeScript, CSS, SQL or Lua, each with the number of its first line. */
export function commentsIn(text: string): { readonly line: number; readonly words: string }[] {
  const blocks = [...text.matchAll(/\/\*\*?(?<words>[\s\S]*?)\*\//g)].map(({ index, groups }) => ({
    line: text.slice(0, index).split('\n').length,
    words: (groups?.words ?? '').replace(/\n\s*\*?/g, ' ').trim(),
  }))
  const lines: { line: number; words: string }[] = []
  let previous = -1
  for (const [at, line] of text.split('\n').entries()) {
    const words = /^\s*(?:\/\/|--)\s?(?<words>.*)$/.exec(line)?.groups?.words
    if (words === undefined) continue
    const last = lines.at(-1)
    if (last && previous === at - 1) last.words += ` ${words.trim()}`
    else lines.push({ line: at + 1, words: words.trim() })
    previous = at
  }
  return [...blocks, ...lines]
}

/** One line for each comment that begins as half a sentence. */
export const halvesIn = (file: string, text: string): string[] =>
  commentsIn(text)
    .filter(({ words }) => HALF.test(words))
    .map(({ line, words }) => `${file}:${line} ${words.slice(0, 80)}`)

const longLinesIn = (file: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, at) => (line.length > MAX_COLUMNS && !line.includes('://') ? `${file}:${at + 1}` : []))

/** The lines of a page of figures that are too long to be read at once. */
export const longRowsIn = (file: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, at) =>
      line.length > (line.startsWith('|') ? MAX_ROW_COLUMNS : MAX_COLUMNS) ? `${file}:${at + 1}` : [],
    )

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const parts = '{bench,client,deploy,dev,edge,examples,origin,shared,test}'
  const found = globSync(`${parts}/**/*.{ts,tsx,lua,sql,css}`, { cwd: root })
  const files = found.filter((file) => !/\/(migrations|dist|node_modules|types)\//.test(file))
  const texts = files.map((file) => [file, readFileSync(root + file, 'utf8')] as const)
  const halves = texts.flatMap(([file, text]) => halvesIn(file, text))
  const long = texts.flatMap(([file, text]) => longLinesIn(file, text))
  for (const half of halves) console.error(half)
  if (halves.length > 0) console.error('These comments begin as half a sentence: docs/CONTRIBUTING.md, Words.')
  if (long.length > MAX_LONG_LINES) {
    for (const place of long) console.error(place)
    console.error(`${long.length} lines have more than ${MAX_COLUMNS} columns; at most ${MAX_LONG_LINES} may.`)
  }
  const rows = FIGURES.flatMap((file) => longRowsIn(file, readFileSync(root + file, 'utf8')))
  for (const row of rows) console.error(`${row} is too long: one row or sentence for each number.`)
  if (halves.length > 0 || long.length > MAX_LONG_LINES || rows.length > 0) process.exitCode = 1
}
