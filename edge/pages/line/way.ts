/**
 * The length of the queue in a drawing: from its first place to the end of the stock, or to the visitor's own place
 * if that is further.
 */

/** The place to which the stock is likely to last; null if unknown. */
export const endsOf = (serving: number, lastsFor: number | null): number | null =>
  lastsFor === null ? null : Math.round(serving + lastsFor)

/** The positions of the called visitors and of the visitor's own place along the queue, as SVG lengths. */
export function wayOf(serving: number, position: number, lastsFor: number | null) {
  const whole = Math.max(1, position, endsOf(serving, lastsFor) ?? 0)
  const part = (place: number) => `${Math.min(100, (Math.max(0, place) / whole) * 100).toFixed(2)}%`
  return { served: part(serving), own: part(position) }
}
