/** Describes a problem in the page's own words, because a problem's title and detail are for programs. */
import type { Problem, ProblemType } from '../../../shared/problem.ts'
import { type Html, html } from '../html.ts'
import type { Words } from '../words/words.ts'

export function wordsFor(
  { type, retry_after_seconds, errors, reason }: Problem,
  words: Words,
): readonly [string, string] {
  const name = type.slice('/problems/'.length) as ProblemType
  // If other buyers' orders cause the problem, it has a time to retry.
  if (name === 'too-many-orders' && retry_after_seconds === undefined) return words.cancelledFor.too_many
  if (name === 'too-many-requests' && reason === 'unpaid_nearby') return words.unpaidNearby
  if (name === 'ended') return [words.ended, words.endedText]
  const known: Readonly<Record<string, readonly [string, string]>> = words.problems
  return known[name] ?? [words.problem, errors ? words.problemFields : words.problemText]
}

/** The id of the error of a field. A script that shows an error replaces the server's by it. */
export const faultId = (name: string) => `fault-${name.replace(':', '-')}`

/** The message next to the button of a form that met a problem. */
export function faultOf(problem: Problem, words: Words): Html {
  const [title, text] = wordsFor(problem, words)
  // The form already says for whom the sale is.
  const more = !problem.type.endsWith('/sign-in-required') && html`${words.fullStop}${text}`
  return html`<p class="fault" role="alert" tabindex="-1" autofocus><b>${title}</b>${more}</p>`
}
