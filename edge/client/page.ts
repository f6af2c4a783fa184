/** What all parts of the page's script share: the page's data, the server's clock, and small functions that change the page. */
import { moment } from '../../shared/format.ts'
import { ServerClock } from './clock.ts'

/** The data that the server wrote into the page for its script. */
export interface Page {
  readonly sale: string
  /** Left out for the public line, as in its schedule. */
  readonly line: string | undefined
  /** Where this page can be loaded again; null for the response to a form that met a problem. */
  readonly path: string | null
  /** The page of the sale that is the same for all, in the language that the visitor chose. */
  readonly home: string
  /** False for a page that is the same for all: it knows no visitor. */
  readonly isOwn: boolean
  /** The visitor's ticket number; null for someone who has not joined. */
  readonly number: number | null
  readonly opensAt: string
  readonly commitment: string
  readonly lang: string
}

export function readPage(): Page {
  const { sale = '', line, path = null, home = '', own, number, opensAt = '', commitment = '' } = textsOf('stage')
  const isOwn = own !== undefined
  return {
    sale,
    line,
    path,
    home,
    isOwn,
    number: number ? Number(number) : null,
    opensAt,
    commitment,
    lang: pageLanguage(),
  }
}

/** The page as it is now: its content may be replaced. */
export let page: Page

export const takePage = (): Page => {
  page = readPage()
  return page
}

/** The page's language, or its translation's; an extension may have written something that is no language. */
function pageLanguage(): string {
  try {
    return new Intl.Locale(document.documentElement.lang).toString()
  } catch {
    return navigator.language
  }
}

/** The server's time when this page was made. */
export const madeAtMs = () => Number(byId('stage')?.dataset.nowMs)

export const clock = new ServerClock()
export const nowMs = () => clock.at(performance.now())

// -- Requests ------------------------------------------------------------------------------------------------------------

/** How often a page reads what is left during a turn. */
export const FETCH_AT_TURN_MS = 4_000
export const TIMEOUT_MS = 8_000
/** For a request that is not worth repeating: an edge that is slow under a crowd is no faster the next time. */
export const SLOW_TIMEOUT_MS = 60_000

export const get = (path: string, init: RequestInit = {}, timeoutMs = TIMEOUT_MS) =>
  fetch(path, { ...init, signal: AbortSignal.timeout(timeoutMs) })

// -- Changing the page ---------------------------------------------------------------------------------------------------

export const byId = (id: string) => document.getElementById(id)

export const each = <E extends HTMLElement>(selector: string, act: (element: E) => void) =>
  document.querySelectorAll<E>(selector).forEach(act)

/** The data attributes of an element: texts that the server wrote beside it, so that only pages that show them carry them. */
export const textsOf = (id: string) => ({ ...byId(id)?.dataset }) as Readonly<Record<string, string>>

export function show(element: Element | null, shown = false): void {
  element?.toggleAttribute('hidden', !shown)
}

/** The text last written to an element: the browser may have translated it since. */
const written = new WeakMap<Element, string>()

/** As the shared queueName, whose checks would make the script larger. */
export const roomOf = ({ sale, line }: Page) => (line === undefined ? sale : `${sale}~${line}`)

/** Sets a text, unless it is the same already. */
export function write(element: Element | null, text = ''): void {
  if (!element) return
  const before = written.get(element) ?? element.textContent
  written.set(element, text)
  if (before !== text) element.textContent = text
}

/** Says something to a screen reader, after what it is saying now. */
export const announce = (text: string | null = '') => write(byId('announcement'), text ?? '')

/** Sets the document's title to what the page shows now, before the sale's name. */
export function retitle(shown: string): void {
  document.title = `${shown} · ${byId('stage')?.dataset.name}`
}

/** Moves the focus to the heading if its element was hidden; otherwise it would be lost to the start of the page. */
export function keepFocus(): void {
  if (document.activeElement?.closest('[hidden]')) each('h1', (heading) => heading.focus())
}

/** Moments are written in UTC; the visitor reads them in their own time zone, which some name. */
export const showMoments = () =>
  each<HTMLTimeElement>('time[data-moment]', (time) => {
    const style = time.dataset.moment === 'zone' ? 'long' : 'short'
    write(time, moment(pageLanguage(), Date.parse(time.dateTime), undefined, style))
  })

// -- Between pages -------------------------------------------------------------------------------------------------------

/** A value in the browser's local storage; null also where the browser has none. */
export function stored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // No local storage.
  }
}

// -- The visitor's own page ----------------------------------------------------------------------------------------------

export const salePath = () => page.home || `/sales/${page.sale}`
export const linePath = () => `/sales/${page.sale}/line`

/** The landing page is the same for all and knows no visitor; so this browser remembers that it has a place, and whose page to show. */
const storageKeyOfPlace = () => `place ${page.sale}`
export const hasPlace = () => stored(storageKeyOfPlace()) !== null

export function rememberPlace(): void {
  if (page.number !== null) store(storageKeyOfPlace(), String(page.number))
  else if (page.isOwn && byId('landing')) store(storageKeyOfPlace(), null)
}

/** True on the landing page that all see, for a visitor who has a page of their own. */
export const isBesideOwn = () => !page.isOwn && byId('landing') !== null && hasPlace()
