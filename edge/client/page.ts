/** What all parts of the page's script work on: the page that is shown, the server's clock, and small ways to change the page. */
import type { ScriptWords } from '../pages/words.ts'
import { ServerClock } from './clock.ts'

/** Put here by the build, which makes this script once for each language. */
declare const __WORDS__: ScriptWords

/** What the server wrote into the page for its script. */
export interface Page {
  readonly sale: string
  /** Where this page can be had again; '' if it answers a form that met a problem. */
  readonly path: string
  /** The visitor's ticket number; null for someone who has not joined. */
  readonly number: number | null
  readonly opensAt: string
  readonly lobbyOpensAt: string
  readonly commitment: string
  readonly words: ScriptWords
  readonly lang: string
}

export const byId = (id: string) => document.getElementById(id)

export function readPage(): Page {
  const data = byId('stage')?.dataset ?? {}
  return {
    sale: data.sale ?? '',
    path: data.page ?? '',
    number: data.number ? Number(data.number) : null,
    opensAt: data.opensAt ?? '',
    lobbyOpensAt: data.lobbyOpensAt ?? '',
    commitment: data.commitment ?? '',
    words: __WORDS__,
    lang: document.documentElement.lang,
  }
}

/** The server's time when this page was made. */
export const madeAtMs = () => Number(byId('stage')?.dataset.nowMs)

export const clock = new ServerClock()
export const nowMs = () => clock.at(performance.now())

export function show(element: Element | null, shown: boolean): void {
  element?.toggleAttribute('hidden', !shown)
}

/** Sets a text, and touches nothing where it is the same already. */
export function write(element: Element | null, text: string): void {
  if (element && element.textContent !== text) element.textContent = text
}

/** Says something to a screen reader, when it has finished what it is saying. */
export const announce = (text: string) => write(byId('announcement'), text)

export const each = (selector: string, act: (element: HTMLElement) => void) =>
  document.querySelectorAll<HTMLElement>(selector).forEach(act)

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
