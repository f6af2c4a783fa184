/** The page that explains a problem and offers what may help. */
import type { Problem } from '../../shared/problem.ts'
import { buttonTo, heading, html, postForm } from './html.ts'
import { wordsFor } from './parts/fault.ts'
import type { Content, Shows } from './view.ts'
import type { Words } from './words/words.ts'

/** The time is spread, so that visitors who were refused together do not return together. */
export const retrySeconds = ({ retry_after_seconds = 3 }: Problem) =>
  Math.ceil(retry_after_seconds * (1 + Math.random()) + 2)

/** The remedies that are known for the problem. */
interface Remedies extends Pick<Extract<Shows, { kind: 'problem' }>, 'again' | 'path'> {
  /** The path of the shop front, which a page that cannot be tried again leads to; null if there is none. */
  readonly front: string | null
}

export function problemContent(
  problem: Problem,
  words: Words,
  home: string | null,
  { again, path, front }: Remedies,
): Content {
  const type = problem.type.slice('/problems/'.length)
  const [title, text] = wordsFor(problem, words)
  const fields = Object.entries(again?.fields ?? {}).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const signIn = typeof problem.sign_in_url === 'string' ? problem.sign_in_url : null
  const isFinal = !again && !path && signIn === null
  const main = html`<section class="stack says" ${path && html`id="away"`}>
    ${heading(title, text)}
    <div class="row actions">
      ${signIn !== null && buttonTo(signIn, words.signIn)}
      ${again && postForm(again.action, html`${fields}<button class="button">${words.tryAgain}</button>`)}
      ${path && buttonTo(path, words.tryAgain)}
      ${home !== null && html`<a class="button ${!isFinal && 'second'}" href="${home}">${words.backToSale}</a>`}
      ${
        front !== null &&
        isFinal &&
        html`<a class="button ${home !== null && 'second'}" href="${front}">${words.front.toFront}</a>`
      }
    </div>
    <p class="small quiet"><code>${problem.status} ${type} ${problem.request_id ?? ''}</code></p>
  </section>`
  return { title, main, reloadSeconds: path ? retrySeconds(problem) : null }
}

/** What a type of problems means, in the words of the API. */
export function problemTypeContent({ type, title, status, detail }: Problem): Pick<Content, 'title' | 'main'> {
  const main = html`<section class="stack says">
    ${heading(title, detail)}
    <p class="small quiet">The API sends this problem (RFC 9457) with the status <code>${status}</code> and the type
      <code>${type}</code>. Its <code>detail</code> says what happened in one case, and <code>errors</code> which fields
      are wrong.</p>
  </section>`
  return { title, main }
}
