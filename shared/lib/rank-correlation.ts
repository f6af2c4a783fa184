/** Spearman's rank correlation, which measures whether two lists of figures have the same order. */

/**
 * Returns 1 for the same order, -1 for the opposite one, and null for fewer than three pairs or a list with a single
 * value.
 */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number | null {
  if (a.length < 3) return null
  const [ranksA, ranksB] = [ranksOf(a), ranksOf(b)]
  const mean = (a.length + 1) / 2
  let [together, squaresA, squaresB] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [(ranksA[i] ?? 0) - mean, (ranksB[i] ?? 0) - mean]
    together += x * y
    squaresA += x * x
    squaresB += y * y
  }
  return squaresA === 0 || squaresB === 0 ? null : together / Math.sqrt(squaresA * squaresB)
}

/** The ranks of values, from 1; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): Float64Array {
  // An array is used, because its sort is fast for sorted input.
  const order = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  const ranks = new Float64Array(values.length)
  for (let from = 0; from < order.length; ) {
    let to = from
    while (to < order.length && values[order[to] ?? 0] === values[order[from] ?? 0]) to++
    for (let i = from; i < to; i++) ranks[order[i] ?? 0] = (from + 1 + to) / 2
    from = to
  }
  return ranks
}
