/** Parts of pages that are the same for all who come at one moment: made for the first, and kept for the others. */
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import type { Html } from '../html.ts'

const MAX_PARTS = 1_000
const kept = new RecentMap<string, { readonly of: readonly unknown[]; readonly part: Html }>(MAX_PARTS)

/** The part of this name, made anew when anything that it is made `of` is another object or value than it was. */
export function keptPart(name: string, of: readonly unknown[], make: () => Html): Html {
  const known = kept.get(name)
  if (known && known.of.length === of.length && known.of.every((one, i) => one === of[i])) return known.part
  const part = make()
  kept.set(name, { of, part })
  return part
}
