/**
 * An order's number for people: `K7Q-4MX`. Orders are numbered from 1; so that a number does not say how many came before, it is
 * mapped to another one of as many bits, one to one (a Feistel network), and written in letters and digits that are not mistaken
 * for each other. It hides the count from the curious, and nothing else.
 */
const SYMBOLS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const ROUNDS = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f]
/** Half of the bits, for six symbols or, from the billionth order on, eight. */
const HALVES = [15, 20] as const

export function shortNumber(number: number): string {
  const half = number < 2 ** 30 ? HALVES[0] : HALVES[1]
  let [left, right] = [Math.floor(number / 2 ** half), number % 2 ** half]
  for (const round of ROUNDS) [left, right] = [right, left ^ mixed(right, round, half)]
  return written(left * 2 ** half + right, (2 * half) / 5)
}

/** The order's number; null if the text is none. Case, spaces and the dash do not matter. */
export function numberOf(text: string): number | null {
  const symbols = text.toUpperCase().replaceAll(/[\s-]/g, '')
  const half = symbols.length === 6 ? HALVES[0] : HALVES[1]
  if (symbols.length !== (2 * half) / 5 || [...symbols].some((symbol) => !SYMBOLS.includes(symbol))) return null
  const value = [...symbols].reduce((sum, symbol) => sum * 32 + SYMBOLS.indexOf(symbol), 0)
  let [left, right] = [Math.floor(value / 2 ** half), value % 2 ** half]
  for (const round of ROUNDS.toReversed()) [left, right] = [right ^ mixed(left, round, half), left]
  const number = left * 2 ** half + right
  return shortNumber(number) === written(value, symbols.length) ? number : null
}

function written(value: number, symbols: number): string {
  let text = ''
  for (let rest = value; text.length < symbols; rest = Math.floor(rest / 32)) text = SYMBOLS[rest % 32] + text
  return `${text.slice(0, symbols / 2)}-${text.slice(symbols / 2)}`
}

/** Any function will do: a Feistel network can be undone whatever its rounds are. */
function mixed(value: number, round: number, bits: number): number {
  const product = Math.imul(value + 1, round)
  return ((product ^ (product >>> 15)) >>> 0) % 2 ** bits
}
