/** The shop's posts as a separate page: the newest, or those of one page. */
import type { Post } from '../../../shared/api/public.ts'
import { buttonTo, html } from '../html.ts'
import { type Content, homeOf, type PageContext } from '../view.ts'
import { postItem } from './posts.ts'

/** `older` is the number of the page before; 0 means none. */
export function postsPage(context: PageContext, posts: readonly Post[], older: number): Content {
  const { view, words } = context
  const main = html`<section class="stack">
    <h1 tabindex="-1">${words.feed}</h1>
    ${
      posts.length > 0
        ? html`<ol class="feed"
      reversed>${posts.map((post) => postItem(context, post))}</ol>`
        : html`<p class="lead">${words.feedNone}</p>`
    }
    ${older > 0 && html`<p class="row links"><a href="/sales/${view.sale}/posts/${older}">${words.feedOlder}</a></p>`}
    <p class="actions">${buttonTo(homeOf(view), words.backToSale)}</p>
  </section>`
  return { title: words.feed, main, reloadSeconds: null }
}
