/** Figures of measurements: their middle, and as people read them. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}

/** A number with all its digits; a small one has at most two decimals. */
export const n = (value: number) => value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 })

/** A number in short form. */
export const short = (value: number) => {
  const size = Math.abs(value)
  if (size >= 1e6) return `${round(value / 1e6)}M`
  if (size >= 1e4) return `${round(value / 1e3)}k`
  return size >= 1000 ? n(value) : String(round(value))
}

export const duration = (ms: number) =>
  ms >= 60_000
    ? `${round(ms / 60_000)} min`
    : ms >= 1000
      ? `${round(ms / 1000)} s`
      : `${ms < 10 ? round(ms) : Math.round(ms)} ms`

const round = (value: number) => Math.round(value * 100) / 100
