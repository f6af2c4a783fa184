/**
 * Finds regular expressions that can take very long for a short text because of backtracking, in all code that reads
 * input from callers. `npm run check` runs it:
 *
 *     node dev/slow-patterns.ts
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isSafePattern } from 'redos-detector'
import { parseAst } from 'vitest/node'

/** Files that run in browsers, read settings or draw invented data get no input from callers. */
const NO_CALLERS =
  /\.test\.ts$|\/testing\/|\/(config|setting-forms)\.ts$|^origin\/lib\/redis\/redis\.ts$|^edge\/(client|preview)\/|^origin\/console\/client\//
/**
 * The maximum number of ways in which a pattern may match the same text, and of steps to count them. A pattern with
 * more is slow.
 */
const MAX_WAYS = { maxScore: 100, maxSteps: 5_000 }

interface Pattern {
  readonly source: string
  readonly flags: string
  /** The position in the text of its file. */
  readonly at: number
}

/** The regular expression literals in a source text. */
function patternsIn(text: string): Pattern[] {
  const found: Pattern[] = []
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { regex, start } = node as { regex?: { pattern: string; flags: string }; start?: number }
    if (regex) found.push({ source: regex.pattern, flags: regex.flags, at: start ?? 0 })
    else for (const part of Object.values(node)) walk(part)
  }
  walk(parseAst(text, { lang: 'ts' }))
  return found
}

const isSlow = ({ source, flags }: Pattern): boolean =>
  // The detector does not support names of groups.
  !isSafePattern(source.replace(/\(\?<\w{1,40}>/g, '('), {
    ...MAX_WAYS,
    caseInsensitive: flags.includes('i'),
    unicode: flags.includes('u'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
  }).safe

/** Returns one line for each slow pattern of a source text. */
export const slowPatternsIn = (file: string, text: string): string[] =>
  patternsIn(text)
    .filter(isSlow)
    .map(({ source, flags, at }) => `${file}:${text.slice(0, at).split('\n').length} /${source}/${flags}`)

function slowPatterns(): string[] {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const files = globSync('{edge,origin,shared}/**/*.ts', { cwd: root })
  return files
    .filter((file) => !NO_CALLERS.test(file))
    .flatMap((file) => slowPatternsIn(file, readFileSync(root + file, 'utf8')))
}

if (import.meta.main) {
  const slow = slowPatterns()
  for (const line of slow) console.error(`${line} can take long over a short text`)
  process.exitCode = slow.length > 0 ? 1 : 0
}
