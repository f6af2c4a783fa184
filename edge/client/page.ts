/**
 * Shared by all parts of the page's script: the page's data, the server's clock, and small functions that change the
 * page.
 */

import { momentSeen } from '../../shared/format.ts'
import type { Place, Schedule } from '../../shared/schedule.ts'
import type { Tag } from '../pages/html.ts'
import { ServerClock } from './clock.ts'

/** The data that the server wrote into the page for its script. */
export interface Page {
  readonly sale: string
  /** The line; omitted for the public line, as in its schedule. */
  readonly line: string | undefined
  /** The path from which this page can be loaded again; null for the response to a form that met a problem. */
  readonly path: string | null
  /** The sale's page that is the same for all visitors, in the language that the visitor chose. */
  readonly home: string
  /** False for a page that is the same for all visitors. */
  readonly isOwn: boolean
  /** The visitor's ticket number; null for a visitor who has not joined. */
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

/** The data of the current page. They change when its content is replaced. */
export let page: Page

export const takePage = (): Page => {
  page = readPage()
  return page
}

/** Functions of the first script that the second one uses without a second copy of their code. */
export interface Tools {
  readonly announce: (text: string) => void
  readonly commitmentHolds: (commitment: string, seed: string) => boolean
  readonly ownOrder: (page: Page) => string | undefined
  readonly forgetOrder: (page: Page, order: string) => void
}

/** The state of the page at a moment. */
export interface PageState {
  readonly schedule: Schedule
  readonly page: Page
  readonly place: Place | null
  readonly atMs: number
}

/** The language of the page or of its translation. An extension may have written an invalid value. */
function pageLanguage(): string {
  try {
    return new Intl.Locale(document.documentElement.lang).toString()
  } catch {
    return navigator.language
  }
}

/** The server's time at which this page was made. */
export const madeAtMs = () => Number(byId('stage')?.dataset.nowMs)

// The second script does without it.
export const clock = /* @__PURE__ */ new ServerClock()
export const nowMs = () => clock.at(performance.now())

// -- Requests -------------------------------------------------------------------------------------------------------

/** During a turn, the page reads the remaining stock this often. */
export const FETCH_AT_TURN_MS = 4_000
export const TIMEOUT_MS = 8_000
/**
 * The timeout of a request that is not worth repeating, because an edge that is slow under load is no faster the next
 * time.
 */
export const SLOW_TIMEOUT_MS = 60_000

export const get = (path: string, init: RequestInit = {}, timeoutMs = TIMEOUT_MS) =>
  fetch(path, { ...init, signal: AbortSignal.timeout(timeoutMs) })

// -- Changing the page ----------------------------------------------------------------------------------------------

export const byId = (id: string) => document.getElementById(id)

export const each = <E extends HTMLElement>(selector: string, act: (element: E) => void) =>
  document.querySelectorAll<E>(selector).forEach(act)

/**
 * The data attributes of an element. The server writes texts there, so that only pages that show a text contain it.
 */
export const textsOf = (id: string) => ({ ...byId(id)?.dataset }) as Readonly<Record<string, string>>

export function show(element: Element | null, shown = false): void {
  element?.toggleAttribute('hidden', !shown)
}

/**
 * The text last written to each element. It is compared instead of the element's text, which the browser may have
 * translated.
 */
const lastTexts = new WeakMap<Element, string>()

/** Returns the same name as the shared queueName, whose checks would make the script larger. */
export const queueOf = ({ sale, line }: Page) => (line === undefined ? sale : `${sale}~${line}`)

/** Sets a text, unless it is unchanged. */
export function write(element: Element | null, text = ''): void {
  if (!element) return
  const before = lastTexts.get(element) ?? element.textContent
  lastTexts.set(element, text)
  if (before !== text) element.textContent = text
}

/** Makes the element of a part that the server writes as HTML. No HTML is parsed. */
export function elementOf([name, attributes, ...content]: Tag<Node>): HTMLElement {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value as string)
  made.append(...content.map((part) => (Array.isArray(part) ? elementOf(part as never) : (part as Node))))
  return made
}

export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...content: (Node | string)[]
) => elementOf([name, attributes, ...content]) as HTMLElementTagNameMap[Name]

/** Announces a text to a screen reader, after the current one. */
export const announce = (text: string | null = '') => write(byId('announcement'), text ?? '')

/** Puts the current state before the sale's name in the document's title. */
export function retitle(shown: string): void {
  document.title = `${shown} · ${byId('stage')?.dataset.name}`
}

/**
 * Moves the focus to the heading if its element was hidden. Otherwise the focus would return to the start of the
 * page.
 */
export function keepFocus(): void {
  if (document.activeElement?.closest('[hidden]')) each('h1', (heading) => heading.focus())
}

/** Converts the times in the page from UTC to the visitor's time zone. */
export const showMoments = () =>
  each<HTMLTimeElement>('time[data-moment]', (time) =>
    write(time, momentSeen(pageLanguage(), Date.parse(time.dateTime), nowMs())),
  )

// -- Between pages --------------------------------------------------------------------------------------------------

/** Reads a value from the browser's local storage; null if the browser has none. */
export function loadStored(key: string): string | null {
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
    // The browser has no local storage.
  }
}

// -- The visitor's own page -----------------------------------------------------------------------------------------

/** A path below the sale's, in the language that the visitor chose. */
export const pathUnder = (path: string) => page.home.replace(/\?|$/, `${path}$&`)
export const linePath = () => pathUnder('/line')

/**
 * The landing page is the same for all visitors, so this browser stores that it has a place, and which page shows it.
 */
const storageKeyOfPlace = () => `place ${page.sale}`
export const hasPlace = () => loadStored(storageKeyOfPlace()) !== null

export function rememberPlace(): void {
  if (page.number !== null) store(storageKeyOfPlace(), String(page.number))
  else if (page.isOwn && byId('landing')) store(storageKeyOfPlace(), null)
}

/** True on the landing page for a visitor who has a page of their own. */
export const isBesideOwn = () => !page.isOwn && byId('landing') !== null && hasPlace()
