/**
 * Searches while the visitor types, and shows the latest searches. The browser builds an index from a cached list and
 * searches it; if the list is too long for that, the edge searches. Without this script the form leads to a page.
 */
import { fill } from '../../../shared/format.ts'
import type { Entry } from '../../../shared/search/entries.ts'
import { type Marked, partsOf } from '../../../shared/search/marks.ts'
import { type Hit, SearchIndex } from '../../../shared/search/search-index.ts'
import { priceText, stateText, type Told, type ToldTexts } from '../../pages/front/told.ts'
import { element, get, write } from '../page.ts'
import { RecentSearches } from './recent.ts'
import { button, cross, link, paragraph } from './suggest-parts.ts'

/** The numbers of hits and completions below the field. */
const [MAX_HITS, MAX_COMPLETIONS] = [6, 2]
/** Calls to the edge wait until the visitor pauses for this long. */
const TYPING_MS = 150

interface Suggested {
  readonly completions: readonly string[]
  readonly hits: readonly Suggestion[]
  readonly didYouMean: string | undefined
  readonly marked: Marked
}
interface Suggestion extends Pick<Hit, 'title' | 'snippet'> {
  readonly path: string
  /** State and price, unless the shop's list has them no longer. */
  readonly told: Told | undefined
  readonly thumb?: string
}
type Suggest = (q: string) => Promise<Suggested>

const NONE: Marked = { terms: new Set(), beginnings: [] }
const lang = document.documentElement.lang as 'en'
const chosenLanguage = () => new URLSearchParams(location.search).get('lang')
const inLanguage = (path: string) => {
  const language = chosenLanguage()
  return language === null ? path : `${path}${path.includes('?') ? '&' : '?'}lang=${encodeURIComponent(language)}`
}
const searchPath = (q: string) => inLanguage(`/search?q=${encodeURIComponent(q)}`)

export function start(form: HTMLFormElement): void {
  const input = form.querySelector<HTMLInputElement>('input[type=search]')
  const [recentBox, typedBox] = ['.recent', '.typed'].map((name) => form.querySelector<HTMLElement>(name))
  if (!input || !recentBox || !typedBox) return
  const words = form.dataset as Readonly<Record<string, string>>
  const recent = new RecentSearches(words.accounts !== undefined)
  const suggest = words.index === undefined ? byEdge : byBrowser(words.index)

  const showRecent = () => {
    const remove = (q: string | null) => {
      recent.remove(q)
      showRecent()
      input.focus()
    }
    const items = recent.list.map((q) =>
      element(
        'li',
        {},
        link(searchPath(q), element('bdi', {}, q)),
        button(fill(words.deleteOne ?? '', { q }), cross(), () => remove(q)),
      ),
    )
    const all = button(words.deleteAll ?? '', cross(), () => remove(null))
    recentBox.replaceChildren(paragraph(element('b', {}, words.recent ?? ''), all), element('ul', {}, ...items))
    recentBox.hidden = items.length === 0
  }

  let latest = 0
  const showTyped = async () => {
    const q = input.value.trim()
    const turn = ++latest
    if (q === '') return
    const found = await suggest(q).catch(() => null)
    if (turn !== latest || !found) return
    typedBox.replaceChildren(...typedParts(found, words))
    typedBox.hidden = false
    const status = form.querySelector('[role=status]')
    const count = String(found.hits.length)
    write(status, found.hits.length > 0 ? fill(words.found ?? '', { n: count }) : fill(words.noResults ?? '', { q }))
  }

  // Pressing a button must not take the focus from the field. Some browsers focus no button, and the box would close.
  for (const box of [recentBox, typedBox]) box.addEventListener('mousedown', (event) => event.preventDefault())
  input.addEventListener('input', () => void showTyped())
  form.addEventListener('keydown', (event) => moveFocus(event, form, input))
  // A search also counts if the visitor follows a link below the field. The stored search is the typed text.
  form.addEventListener('submit', () => input.value.trim() !== '' && recent.add(input.value))
  typedBox.addEventListener('click', ({ target }) => {
    if ((target as Element).closest('a')) recent.add(input.value)
  })
  showRecent()
  void recent.load().then(showRecent)
  void showTyped()
}

// -- What is suggested ----------------------------------------------------------------------------------------------

function byBrowser(path: string): Suggest {
  let loading: Promise<SearchIndex> | null = null
  let states: ReturnType<typeof loadStates> | null = null
  const load = async () => {
    const response = await get(path)
    if (!response.ok) throw new Error(String(response.status))
    const { entries, synonyms } = (await response.json()) as { entries: Entry[]; synonyms: string[][] }
    return SearchIndex.inSteps(entries, synonyms, () => new Promise((resolve) => setTimeout(resolve)))
  }
  return async (q) => {
    loading ??= load()
    states ??= loadStates()
    // The edge searches while the index is loading, and if that fails.
    const [index, known] = await Promise.all([loading.catch(() => null), states])
    if (!index) {
      loading = null
      return byEdge(q)
    }
    const { hits, marked, did_you_mean } = index.search(q, { lang, limit: MAX_HITS })
    return {
      completions: index.complete(q, MAX_COMPLETIONS),
      hits: hits.map(({ entry, title, snippet }) => {
        const { sale } = entry
        return { title, snippet, path: pathOf(sale), told: known.get(sale), ...thumbOf(entry) }
      }),
      didYouMean: did_you_mean,
      marked,
    }
  }
}

/** The list of the front, as it is when the visitor begins to search. Without it the hits have no state. */
async function loadStates(): Promise<ReadonlyMap<string, Told>> {
  try {
    const response = await get('/', { headers: { accept: 'application/json' } })
    const { sales } = (await response.json()) as { sales: (Told & { readonly sale: string })[] }
    return new Map(sales.map((sale) => [sale.sale, sale]))
  } catch {
    return new Map()
  }
}

interface Answer {
  readonly results: readonly (Told & { readonly sale: string; readonly title: string; readonly snippet: string })[]
  readonly did_you_mean?: string
}

let typing = 0

async function byEdge(q: string): Promise<Suggested> {
  clearTimeout(typing)
  await new Promise<void>((resolve) => {
    typing = setTimeout(resolve, TYPING_MS)
  })
  const ask = async (path: string) => (await get(inLanguage(path), { headers: { accept: 'application/json' } })).json()
  const query = encodeURIComponent(q)
  const [found, { completions }] = (await Promise.all([
    ask(`/search?q=${query}&limit=${MAX_HITS}`),
    ask(`/search/suggest?q=${query}`),
  ])) as [Answer, { completions: string[] }]
  return {
    completions: completions.slice(0, MAX_COMPLETIONS),
    hits: found.results.map(({ sale, title, snippet, ...told }) => ({ title, snippet, path: pathOf(sale), told })),
    didYouMean: found.did_you_mean,
    marked: NONE,
  }
}

const pathOf = (sale: string) => inLanguage(`/sales/${sale}`)

/** The smallest file of a stored picture; pictures of other hosts are shown unchanged. */
function thumbOf({ image }: Entry): { thumb?: string } {
  if (!image) return {}
  const { url, widths: [least = 320] = [] } = image
  return { thumb: /^\/images\/[0-9a-f]{32}$/.test(url) ? `${url}/${least}.webp` : url }
}

// -- Below the field ------------------------------------------------------------------------------------------------

function typedParts({ completions, hits, didYouMean, marked }: Suggested, words: Readonly<Record<string, string>>) {
  const shown = (text: string) =>
    partsOf(text, marked).map((part) => (part.isHit ? element('mark', {}, part.text) : part.text))
  const ofHits = hits.map(({ title, snippet, path, thumb, told }) => {
    const picture = thumb === undefined ? [element('div', { class: 'pic thumb none' })] : [thumbnail(thumb)]
    const texts = words as unknown as ToldTexts
    const state = told?.phase && [
      `${stateText(texts, lang, told, Date.now())} `,
      element('b', {}, priceText(texts, lang, told)),
    ]
    const text = element('span', {}, element('bdi', {}, ...shown(title)), element('small', {}, snippet))
    if (state) text.append(element('small', {}, ...state))
    return element('li', {}, link(path, ...picture, text))
  })
  const ofCompletions = completions.map((q) => element('li', {}, link(searchPath(q), element('bdi', {}, q))))
  const list = element('ul', {}, ...ofCompletions, ...ofHits)
  if (didYouMean === undefined) return [list]
  const [before = '', after = ''] = (words.didYouMean ?? '').split('{q}')
  const guess = link(searchPath(didYouMean), element('b', {}, element('bdi', {}, didYouMean)))
  return [list, paragraph(element('span', {}, before, guess, after))]
}

const thumbnail = (src: string) =>
  element('div', { class: 'pic thumb' }, element('img', { src, alt: '', decoding: 'async' }))

/** Moves the focus: arrows go through the suggestions, and Escape returns to the field. */
function moveFocus(event: KeyboardEvent, form: HTMLElement, input: HTMLElement): void {
  const links = [...form.querySelectorAll<HTMLElement>('.suggest a')].filter((one) => one.checkVisibility())
  const at = links.indexOf(document.activeElement as HTMLElement)
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (event.key === 'Escape' && at >= 0) input.focus()
  else if (step !== 0 && links.length > 0) (links[at + step] ?? input).focus()
  else return
  event.preventDefault()
}
