/** Amounts as Stripe counts them: for charges at the origin, and for the form on the edge's payment page. */

/** Extra decimals of Stripe's smallest unit compared to the minor unit of ISO 4217 (docs.stripe.com/currencies). */
const MORE_DECIMALS: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: -2 }

/** Divides by a power of ten, since those below 1 are inexact. Stripe rejects a fraction. */
const shifted = (amount: number, decimals: number) =>
  decimals < 0 ? amount / 10 ** -decimals : amount * 10 ** decimals

/** From minor units to Stripe's, by the currency's code in capitals. */
export const toStripe = (minor: number, currency: string) => shifted(minor, MORE_DECIMALS[currency] ?? 0)
export const fromStripe = (amount: number, currency: string) => shifted(amount, -(MORE_DECIMALS[currency] ?? 0))
