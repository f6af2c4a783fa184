/** The results of a query without a script. Matching words are marked. */
import { count, fill } from '../../../shared/format.ts'
import { partsOf } from '../../../shared/search/marks.ts'
import type { Found, Hit } from '../../../shared/search/search-index.ts'
import { buttonTo, type Html, html } from '../html.ts'
import { cardPicture, type FrontSale, type FrontView, frontShell, homeOf, phaseOf, priceOf } from './front-page.ts'

export type SearchView = FrontView & {
  readonly found: Found
  /** The listed sales by id. */
  readonly sales: ReadonlyMap<string, FrontSale>
}

export function searchPage(view: SearchView): Html {
  const { words, found } = view
  const { front } = words
  const { query, hits } = found
  const said = query === '' ? front.whatFor : hits.length > 0 ? front.resultsFor : front.noResults
  const main = html`<main id="main" class="page" data-now-ms="${Math.round(view.nowMs)}">
  <section class="stack found">
    <h1 tabindex="-1">${around(said, html`<bdi>${query}</bdi>`)}</h1>
    ${meant(view)}
    ${
      hits.length > 0 &&
      html`<p class="small quiet">${fill(front.found, { n: count(view.lang, hits.length) })}</p><ul
      class="rows hits">${hits.map((hit) => hitRow(view, hit))}</ul>`
    }
    ${query !== '' && hits.length === 0 && html`<p class="lead">${front.noResultsText}</p>`}
    <p class="actions">${buttonTo(homeOf(view), front.toFront)}</p>
  </section>
</main>`
  const path = `/search${query && `?q=${encodeURIComponent(query)}`}`
  return frontShell(view, { title: fill(said, { q: query }), indexed: false, path, query }, main)
}

/** Says that other words than those of the query were searched for. */
function meant({
  words: { front },
  lang,
  choseLanguage,
  found: { corrected, did_you_mean },
}: SearchView): Html | false {
  if (corrected === undefined) return false
  const path = `/search?q=${encodeURIComponent(corrected)}${choseLanguage ? `&lang=${lang}` : ''}`
  const text = did_you_mean === undefined ? front.shownFor : front.didYouMean
  return html`<p class="lead">${around(text, html`<a href="${path}"><b><bdi>${corrected}</bdi></b></a>`)}</p>`
}

/** Replaces `{q}` in a text by an element. */
function around(text: string, query: Html): Html {
  const [before, after] = text.split('{q}')
  return after === undefined ? html`${before}` : html`${before}${query}${after}`
}

function hitRow(view: SearchView, { entry, title, snippet }: Hit): Html {
  const { words, lang, choseLanguage, found, sales } = view
  const marked = (text: string) =>
    partsOf(text, found.marked).map((part) => (part.isHit ? html`<mark>${part.text}</mark>` : part.text))
  const { image, sale, type } = entry
  const listed = sales.get(sale)
  return html`<li>${cardPicture({ image: image ?? null }, '56px', 'thumb')}
      <div><h2><a href="/sales/${sale}${choseLanguage && `?lang=${lang}`}"><bdi>${marked(title)}</bdi></a></h2>
      ${snippet && html`<p class="small quiet"><bdi>${marked(snippet)}</bdi></p>`}${
        listed && html`<p class="small">${phaseOf(view, listed)} <b>${priceOf(view, listed)}</b></p>`
      }</div><small>${words.front.kinds[type]}</small></li>`
}
