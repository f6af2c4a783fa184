/**
 * Converts and checks amounts by Stripe's rules (docs.stripe.com/currencies): for charges at the origin, for the form
 * on the edge's payment page, and for prices, which are refused if they could not be charged. Pure.
 */

/**
 * The additional decimals of Stripe's smallest unit compared to the minor unit of ISO 4217
 * (docs.stripe.com/currencies).
 */
const MORE_DECIMALS: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: -2 }

/** A negative shift divides, because powers of ten below 1 are inexact. Stripe rejects a fraction. */
const shifted = (amount: number, decimals: number) =>
  decimals < 0 ? amount / 10 ** -decimals : amount * 10 ** decimals

/** Converts minor units to Stripe's, by the currency's code in capitals. */
export const toStripe = (minor: number, currency: string) => shifted(minor, MORE_DECIMALS[currency] ?? 0)
export const fromStripe = (amount: number, currency: string) => shifted(amount, -(MORE_DECIMALS[currency] ?? 0))

/** The three-decimal currencies, whose last digit must be 0. */
const IN_TENS = ['BHD', 'JOD', 'KWD', 'OMR', 'TND']

/**
 * A charge must be a multiple of this number of minor units. An ariary has hundredths by ISO 4217, but not at Stripe.
 */
export const stepOf = (currency: string) => (currency === 'MGA' ? 100 : IN_TENS.includes(currency) ? 10 : 1)

/**
 * The smallest charges in minor units, for an account that is paid out in the same currency. If Stripe converts, the
 * limit of the other currency applies.
 */
const LEAST: Readonly<Record<string, number>> = {
  ...{
    USD: 50,
    AED: 200,
    AUD: 50,
    BGN: 100,
    BRL: 50,
    CAD: 50,
    CHF: 50,
    CZK: 1_500,
    DKK: 250,
    EUR: 50,
    GBP: 30,
    HKD: 400,
  },
  ...{ HUF: 17_500, INR: 50, JPY: 50, MXN: 1_000, MYR: 200, NOK: 300, NZD: 50, PLN: 200, RON: 200, SEK: 300, SGD: 50 },
  ...{ THB: 1_000 },
}
export const leastOf = (currency: string) => LEAST[currency] ?? 1

/** The reason why an amount cannot be part of a charge or refund; undefined if it can. */
export function amountIssue(minor: number, currency: string): string | undefined {
  const step = stepOf(currency)
  return minor % step === 0 ? undefined : `must be a multiple of ${step}: a payment in ${currency} has no smaller part`
}

/** The reason why an amount cannot be charged on its own. Zero is allowed, because a free order needs no charge. */
export function chargeIssue(minor: number, currency: string): string | undefined {
  const least = leastOf(currency)
  if (minor > 0 && minor < least) return `must be 0 or at least ${least}, the least payment in ${currency}`
  return amountIssue(minor, currency)
}
