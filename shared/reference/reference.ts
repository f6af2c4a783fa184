/** The page `/api`: reads the document of the interface, and shows every call of it, with a form to try each. */

import { type Call, callsIn, type Document } from '../openapi.ts'
import { callView } from './call-view.ts'
import { el, inline, prose } from './dom.ts'
import type { Keys } from './try-form.ts'

const root = document.querySelector<HTMLElement>('#reference')
if (root) start(root, root.dataset.document ?? '/openapi.json')

async function start(page: HTMLElement, address: string): Promise<void> {
  try {
    const response = await fetch(address)
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
    show(page, await response.json(), address)
  } catch (error) {
    page.replaceChildren(el('p', { role: 'alert' }, `The document could not be read (${error}). Load the page again.`))
    throw error
  }
}

function show(page: HTMLElement, openApi: Document, address: string): void {
  const keys: Keys = new Map()
  const calls = callsIn(openApi)
  const { title, version, description } = openApi.info
  const groups = (openApi.tags ?? []).map((tag) => ({ ...tag, calls: calls.filter((call) => isOf(call, tag.name)) }))
  const filter = el('input', { type: 'search', id: 'filter', placeholder: 'checkout', autocomplete: 'off' })
  const none = el('p', { hidden: true, role: 'status' }, 'No call has these words.')
  const sections = groups.map((group) =>
    el(
      'section',
      { id: `of-${group.name}`, 'aria-label': group.name },
      el('h2', {}, group.name),
      el('p', {}, ...inline(group.description)),
      ...group.calls.map((call) => callView(openApi, call, keys)),
    ),
  )
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
    none.hidden = narrow(sections, words)
  })
  page.replaceChildren(
    el(
      'header',
      {},
      el('h1', {}, title),
      el('p', { class: 'version' }, `Version ${version}, OpenAPI 3.1: `, el('a', { href: address }, address)),
      ...prose(description),
      keyFields(openApi, keys),
    ),
    el(
      'nav',
      { 'aria-label': 'Parts' },
      el('label', { for: 'filter' }, 'Find a call'),
      filter,
      el(
        'ul',
        {},
        ...groups.map(({ name, calls: { length } }) =>
          el('li', {}, el('a', { href: `#of-${name}` }, name, ' ', el('small', {}, String(length)))),
        ),
      ),
    ),
    el('main', {}, none, ...sections),
  )
  openNamed()
  addEventListener('hashchange', openNamed)
}

const isOf = ({ operation }: Call, tag: string) => operation.tags.includes(tag)

/** Hides the calls that lack one of the words, and parts without a call. False if nothing is left. */
function narrow(sections: readonly HTMLElement[], words: readonly string[]): boolean {
  let isAny = false
  for (const section of sections) {
    const calls = [...section.querySelectorAll<HTMLElement>('.call')]
    for (const call of calls) call.hidden = !words.every((word) => call.dataset.words?.includes(word))
    section.hidden = calls.every((call) => call.hidden)
    isAny ||= !section.hidden
  }
  return isAny
}

/** Opens the call that the address names. */
function openNamed(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (named instanceof HTMLDetailsElement) named.open = true
  named?.scrollIntoView()
}

/** Fields for the tokens with which calls are tried. */
function keyFields({ components }: Document, keys: Keys): HTMLElement | null {
  const schemes = Object.entries(components.securitySchemes ?? {}).filter(([, { scheme }]) => scheme === 'bearer')
  if (schemes.length === 0) return null
  const rows = schemes.map(([name, { description }]) => {
    const input = el('input', { id: `key-${name}`, type: 'password', autocomplete: 'off' })
    input.addEventListener('input', () => keys.set(name, input.value.trim()))
    return el('p', {}, el('label', { for: input.id }, name, el('span', {}, ...inline(description))), input)
  })
  const told = el('p', {}, 'Calls are tried with these. They stay in this page until it is closed.')
  return el('details', { class: 'keys' }, el('summary', {}, 'Keys to try calls with'), told, ...rows)
}
