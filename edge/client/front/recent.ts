/**
 * The latest searches. They are stored in this browser, or on the server if the visitor is signed in at the shop, so
 * that other devices have them too.
 */
import { latestFirst } from '../../../shared/search/words.ts'
import { get, loadStored, store } from '../page.ts'

const KEY = 'searches'
/** The edge sets this cookie for visitors who are signed in at the shop. Guests ask for nothing. */
const SIGNED_IN = /(^|; )(__Host-)?signed-in=/
const PATH = '/me/searches'

export class RecentSearches {
  /** True if the server stores the searches; null before that is known. */
  #isOnServer: boolean | null
  #list: readonly string[] = inBrowser()

  constructor(hasAccounts: boolean) {
    this.#isOnServer = hasAccounts && SIGNED_IN.test(document.cookie) ? null : false
  }

  get list(): readonly string[] {
    return this.#list
  }

  /** Reads the searches of the account if the visitor is signed in. */
  async load(): Promise<void> {
    if (this.#isOnServer === false) return
    const response = await get(PATH, { headers: { accept: 'application/json' } }).catch(() => null)
    this.#isOnServer = response?.ok ?? null
    if (response?.ok) this.#list = ((await response.json()) as { searches: string[] }).searches
    else if (response?.status === 401) this.#isOnServer = false
  }

  add(q: string): void {
    this.#keep(latestFirst(this.#list, q))
    if (this.#isOnServer) this.#send('POST', PATH, { q })
  }

  /** Removes one search; null removes all. */
  remove(q: string | null): void {
    this.#keep(q === null ? [] : this.#list.filter((one) => one !== q))
    if (this.#isOnServer) this.#send('DELETE', q === null ? PATH : `${PATH}?q=${encodeURIComponent(q)}`)
  }

  #keep(list: readonly string[]): void {
    this.#list = list
    if (!this.#isOnServer) store(KEY, list.length > 0 ? JSON.stringify(list) : null)
  }

  /** The request continues while the browser loads the results. */
  #send(method: string, path: string, body?: object): void {
    const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    get(path, { method, keepalive: true, ...json }).catch(() => {})
  }
}

function inBrowser(): readonly string[] {
  try {
    const list: unknown = JSON.parse(loadStored(KEY) ?? '[]')
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}
