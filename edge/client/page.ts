/** What all parts of the page's script work on: the page that is shown, the server's clock, and small ways to change the page. */
import { moment } from '../../shared/format.ts'
import { ServerClock } from './clock.ts'

/** What the server wrote into the page for its script. */
export interface Page {
  readonly sale: string
  /** Where this page can be had again; null if it answers a form that met a problem. */
  readonly path: string | null
  /** The visitor's ticket number; null for someone who has not joined. */
  readonly number: number | null
  readonly opensAt: string
  readonly commitment: string
  readonly lang: string
}

type Written = Pick<Page, 'sale' | 'opensAt' | 'commitment'> & {
  readonly path?: string
  readonly number?: string
}

export const byId = (id: string) => document.getElementById(id)

export function readPage(): Page {
  const { path = null, number, ...data } = textsOf('stage') as Written
  return {
    ...data,
    path,
    number: number ? Number(number) : null,
    lang: pageLanguage(),
  }
}

/** The page's, or a translation's; an extension may have written there what is no language. */
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

export function show(element: Element | null, shown = false): void {
  element?.toggleAttribute('hidden', !shown)
}

/** What was last written where: what stands there now may be the browser's translation of it. */
const written = new WeakMap<Element, string>()

/** Sets a text, and touches nothing where it is the same already. */
export function write(element: Element | null, text = ''): void {
  if (!element) return
  const before = written.get(element) ?? element.textContent
  written.set(element, text)
  if (before !== text) element.textContent = text
}

/** Says something to a screen reader, when it has finished what it is saying. */
export const announce = (text: string | null = '') => write(byId('announcement'), text ?? '')

/** How long an answer may take. */
export const GIVE_UP_MS = 8_000
/** How long one may that is not worth giving up for another: an edge that is slow under a crowd is not quicker next time. */
export const PATIENCE_MS = 60_000

export const get = (path: string, how: RequestInit = {}, giveUpMs = GIVE_UP_MS) =>
  fetch(path, { ...how, signal: AbortSignal.timeout(giveUpMs) })

/** Names the page for what it shows now, before the sale's name. */
export function retitle(shown: string): void {
  document.title = `${shown} · ${byId('stage')?.dataset.name}`
}

/** What an element may be made to say: the server wrote it beside it, so that only pages that show it carry it. */
export const textsOf = (id: string) => ({ ...byId(id)?.dataset }) as Readonly<Record<string, string>>

export const each = <E extends HTMLElement>(selector: string, act: (element: E) => void) =>
  document.querySelectorAll<E>(selector).forEach(act)

/** Who had the focus in what has gone away would be at the beginning of the page. */
export function keepFocus(): void {
  if (document.activeElement?.closest('[hidden]')) each('h1', (heading) => heading.focus())
}

/** Moments are written in UTC; the visitor reads them in their own time. */
export const showMoments = () =>
  each<HTMLTimeElement>('time[data-moment]', (time) =>
    write(time, moment(pageLanguage(), Date.parse(time.dateTime))),
  )

/** What this browser keeps between pages; one that keeps nothing goes without. */
export function kept(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function keep(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // Then not.
  }
}
