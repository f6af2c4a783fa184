/**
 * An order's number for people: `K7Q-4MX`. The ledger gives each order a number that says nothing of how many came
 * before (`next-order-number.sql`); it is written in letters and digits that are not mistaken for each other.
 */
const SYMBOLS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/** Smaller numbers have six symbols and others eight. The ledger gives larger numbers from the billionth order on. */
const SHORTER = 32 ** 6

export function shortNumber(number: number): string {
  const symbols = number < SHORTER ? 6 : 8
  let text = ''
  for (let rest = number; text.length < symbols; rest = Math.floor(rest / 32)) text = SYMBOLS[rest % 32] + text
  return `${text.slice(0, symbols / 2)}-${text.slice(symbols / 2)}`
}

/** Returns the order's number; null if the text is not one. Case, spaces and the dash do not matter. */
export function numberOf(text: string): number | null {
  const symbols = text.toUpperCase().replaceAll(/[\s-]/g, '')
  if (!/^(.{6}|.{8})$/.test(symbols) || [...symbols].some((symbol) => !SYMBOLS.includes(symbol))) return null
  const number = [...symbols].reduce((sum, symbol) => sum * 32 + SYMBOLS.indexOf(symbol), 0)
  return symbols.length === 8 && number < SHORTER ? null : number
}
