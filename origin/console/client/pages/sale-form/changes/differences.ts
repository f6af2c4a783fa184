/** Compares two sales, and merges two changes of one sale. Lists of products, variants and lines match by their ids. */
import { type Body, isSection, type Json, valueAt, withValue } from '../draft.ts'

/** One difference: where, and both values. An undefined value is missing on that side. */
export interface Difference {
  readonly path: string
  readonly before: Json | undefined
  readonly after: Json | undefined
}

const READ_ONLY = new Set(
  (
    'sale version phase ended_at paused invariant rates queue health server_time rules announcement pause_reason ' +
    'chart_version goods_version available held sold section_type variant_of variant has_terms width height widths ' +
    'sizes'
  ).split(' '),
)
const KEYS = ['product_id', 'variant_id', 'line'] as const

const isRecord = (value: Json | undefined): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const keyOf = (item: Json | undefined) =>
  isRecord(item) ? KEYS.map((name) => item[name]).find((key) => typeof key === 'string' && key !== '') : undefined
/** True for a list whose elements have ids of their own. */
const isKeyed = (list: Json | undefined): list is readonly Json[] =>
  Array.isArray(list) &&
  list.length > 0 &&
  new Set(list.map(keyOf)).size === list.length &&
  !list.some((one) => keyOf(one) === undefined)
const inside = (path: string, name: string | number) => (path === '' ? String(name) : `${path}.${name}`)

/** What of a sale an operator sets here: sections of a hall have pages of their own. */
const isSet = (name: string, value: Json | undefined) => !READ_ONLY.has(name) && !(isRecord(value) && isSection(value))

/** A missing value is the same as null, and the order of names does not matter. */
export const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  differencesBetween(one, other).length === 0

/** The differences of what an operator sets. The paths are those of `after`; a removed element has its id as name. */
export function differencesBetween(before: Json | undefined, after: Json | undefined, path = ''): Difference[] {
  const [old, now] = [before ?? null, after ?? null]
  if (old === now) return []
  if (isRecord(old) && isRecord(now)) {
    const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !READ_ONLY.has(name))
    return names.flatMap((name) => differencesBetween(old[name], now[name], inside(path, name)))
  }
  if (Array.isArray(old) && Array.isArray(now)) return differencesOfLists(old, now, path)
  return [{ path, before, after }]
}

function differencesOfLists(before: readonly Json[], after: readonly Json[], path: string): Difference[] {
  const [old, now] = [before, after].map((list) => list.filter((item) => isSet('', item))) as [Json[], Json[]]
  const haveIds = [old, now].every((list) => list.length === 0 || isKeyed(list)) && (isKeyed(old) || isKeyed(now))
  if (!haveIds) {
    const areEqual = old.length === now.length && old.every((item, i) => isSame(item, now[i]))
    return areEqual ? [] : [{ path, before, after }]
  }
  const gone = old.filter((item) => !now.some((one) => keyOf(one) === keyOf(item)))
  return [
    ...now.flatMap((item) =>
      differencesBetween(
        old.find((one) => keyOf(one) === keyOf(item)),
        item,
        inside(path, after.indexOf(item)),
      ),
    ),
    ...gone.map((item) => ({ path: inside(path, String(keyOf(item))), before: item, after: undefined })),
  ]
}

/** A field that both have changed, each in their own way. */
export interface Conflict {
  readonly path: string
  readonly base: Json | undefined
  readonly mine: Json | undefined
  readonly theirs: Json | undefined
}

export interface Merged {
  /** The sale with both changes; where they conflict, with mine. */
  readonly body: Body
  readonly conflicts: readonly Conflict[]
  /** What only the others have changed. */
  readonly taken: readonly Difference[]
}

/** Puts what I changed on top of what the others saved meanwhile. */
export function mergedWith(base: Body, mine: Body, theirs: Body): Merged {
  const conflicts: Conflict[] = []
  const body = merge(base, mine, theirs, '', conflicts) as Body
  const taken = differencesBetween(base, theirs).filter(
    ({ path }) =>
      !conflicts.some((one) => `${path}.`.startsWith(`${one.path}.`) || `${one.path}.`.startsWith(`${path}.`)),
  )
  // What both have changed alike is neither a conflict nor taken.
  return { body, conflicts, taken: taken.filter(({ path, after }) => !isAlike(base, mine, path, after)) }
}

const isAlike = (base: Body, mine: Body, path: string, after: Json | undefined) =>
  !isSame(valueAt(base, path), valueAt(mine, path)) && isSame(valueAt(mine, path), after)

function merge(
  base: Json | undefined,
  mine: Json | undefined,
  theirs: Json | undefined,
  path: string,
  conflicts: Conflict[],
): Json | undefined {
  if (isSame(base, mine)) return theirs
  if (isSame(base, theirs)) return mine
  if (isRecord(base) && isRecord(mine) && isRecord(theirs)) {
    const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])]
    const entries = names.map((name) => [
      name,
      READ_ONLY.has(name) ? theirs[name] : merge(base[name], mine[name], theirs[name], inside(path, name), conflicts),
    ])
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }
  if (isKeyed(base) && isKeyed(mine) && isKeyed(theirs)) return mergeLists(base, mine, theirs, path, conflicts)
  if (!isSame(mine, theirs)) conflicts.push({ path, base, mine, theirs })
  return mine
}

/** Mine stand first in my order; what the others added follows. What either removed is gone. */
function mergeLists(
  base: readonly Json[],
  mine: readonly Json[],
  theirs: readonly Json[],
  path: string,
  conflicts: Conflict[],
): Json {
  const withKey = (list: readonly Json[], key: Json | undefined) => list.find((one) => keyOf(one) === key)
  const kept = mine.flatMap((item) => {
    const [old, other] = [withKey(base, keyOf(item)), withKey(theirs, keyOf(item))]
    return old !== undefined && other === undefined && isSame(old, item) ? [] : [[item, old, other] as const]
  })
  const added = theirs.filter((item) => !withKey(mine, keyOf(item)) && !withKey(base, keyOf(item)))
  return [...kept.map(([item, old, other], i) => merge(old, item, other, inside(path, i), conflicts) as Json), ...added]
}

/** The sale with their value of a conflict instead of mine, or mine again. */
export const decided = (body: Body, { path, mine, theirs }: Conflict, whose: 'mine' | 'theirs'): Body =>
  withValue(body, path, whose === 'mine' ? mine : theirs)
