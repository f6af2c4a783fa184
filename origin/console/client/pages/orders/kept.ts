/** What an operator keeps in this browser alone: their latest searches, and views of their own. */
import { session } from '../../session.ts'

/** A list with these names and filters, and nothing of what was typed. */
export interface OwnView {
  readonly name: string
  /** The filters as in the address. */
  readonly query: string
}

const MOST = 8
const keyOf = (kind: 'searches' | 'views') => {
  const operator = session.value
  return `console.${kind}.${operator !== null && operator !== 'unknown' ? operator.name : ''}`
}

function read<T>(kind: 'searches' | 'views', isOne: (one: unknown) => one is T): readonly T[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(kind)) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isOne).slice(0, MOST) : []
  } catch {
    return []
  }
}

function keep(kind: 'searches' | 'views', all: readonly unknown[]): void {
  try {
    localStorage.setItem(keyOf(kind), JSON.stringify(all.slice(0, MOST)))
  } catch {
    // A browser that blocks storage keeps nothing.
  }
}

export const recentSearches = () => read('searches', (one): one is string => typeof one === 'string')

export function keepSearch(text: string): void {
  const searched = text.trim()
  if (searched !== '') keep('searches', [searched, ...recentSearches().filter((one) => one !== searched)])
}

export const forgetSearches = () => localStorage.removeItem(keyOf('searches'))

const isView = (one: unknown): one is OwnView =>
  typeof one === 'object' && one !== null && 'name' in one && 'query' in one && typeof one.query === 'string'

export const ownViews = () => read('views', isView)

/** A view of the same name is replaced. */
export const keepView = (view: OwnView) => keep('views', [...ownViews().filter(({ name }) => name !== view.name), view])

export const forgetView = (name: string) =>
  keep(
    'views',
    ownViews().filter((one) => one.name !== name),
  )
