/** The tax within a price. */

/** What of a total is tax, in minor units, rounded half up: exact for each price and each rate of up to three decimals. */
export function includedTax(totalMinor: number, percent: number): number {
  const rate = BigInt(Math.round(percent * 1000))
  const whole = 100_000n + rate
  return Number((2n * BigInt(totalMinor) * rate + whole) / (2n * whole))
}
