/** Finds which entry of the audit log undoes which earlier one, so that both stand together. Pure. */
import type { Entry } from './sentences.ts'

export interface Told {
  readonly entry: Entry
  /** The entry that undoes it. */
  readonly undoing: Entry | null
}

/** What undoes an action; other actions are undone by one of the same name that sets everything back. */
const UNDOES: Readonly<Record<string, string>> = {
  resumed: 'paused',
  'announcement ended': 'announced',
  'post removed': 'posted',
  'rule removed': 'rule added',
  'block removed': 'block added',
  'action cancelled': 'action added',
  'webhook deleted': 'webhook created',
  'operator revoked': 'operator added',
}

/** The fields by which two entries are about the same thing. */
const IDS = ['rule', 'block', 'action_id', 'endpoint', 'name', 'text'] as const

const fieldsOf = (side: unknown) =>
  side !== null && typeof side === 'object' ? (side as Readonly<Record<string, unknown>>) : {}
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

function isAboutSame(earlier: Entry, later: Entry): boolean {
  const isPlace = earlier.sale === later.sale && earlier.product_id === later.product_id
  if (!isPlace || earlier.order_id !== later.order_id) return false
  const [made, gone] = [fieldsOf(earlier.after), fieldsOf(later.before)]
  const shared = IDS.filter((name) => made[name] !== undefined && gone[name] !== undefined)
  if (later.action === 'resumed') return true
  return shared.length > 0 && shared.every((name) => same(made[name], gone[name]))
}

/** True if the later entry of the same name sets back what the earlier one changed. */
function isSetBack(earlier: Entry, later: Entry): boolean {
  if (earlier.action !== later.action || earlier.sale !== later.sale) return false
  if (Object.keys(fieldsOf(earlier.before)).length === 0) return false
  return same(earlier.before, later.after) && same(earlier.after, later.before)
}

const undoes = (earlier: Entry, later: Entry) =>
  UNDOES[later.action] === earlier.action ? isAboutSame(earlier, later) : isSetBack(earlier, later)

/** Puts each undoing to the latest action that it undoes. `entries` and the result are sorted, the newest first. */
export function withUndoings(entries: readonly Entry[]): Told[] {
  const undoings = new Map<Entry, Entry>()
  const used = new Set<Entry>()
  // An undoing that was undone itself stays with what undid it.
  for (const [i, earlier] of entries.toReversed().entries()) {
    if (used.has(earlier)) continue
    const later = entries.slice(0, entries.length - 1 - i)
    const undoing = later.findLast((one) => !used.has(one) && undoes(earlier, one))
    const again = later.findLast((one) => one.action === earlier.action && isAgain(earlier, one))
    if (!undoing || (again && entries.indexOf(again) > entries.indexOf(undoing))) continue
    undoings.set(earlier, undoing)
    used.add(undoing)
  }
  return entries.filter((entry) => !used.has(entry)).map((entry) => ({ entry, undoing: undoings.get(entry) ?? null }))
}

/** True for a later action that replaces the earlier one, such as another announcement. */
const isAgain = (earlier: Entry, later: Entry) =>
  earlier.sale === later.sale && (earlier.action === 'announced' || earlier.action === 'paused')
