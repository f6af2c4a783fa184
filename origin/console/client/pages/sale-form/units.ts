/** Money and times, between what one types and what is sent. */
import { digitsOf } from '../../../../../shared/format.ts'

/** In the currency's own digits: 42.00 is 4200 of a cent. Undefined for what is no amount of it. */
export function minorOf(text: string, currency: string): number | undefined {
  const digits = digitsOf(currency)
  const [, whole, part = ''] = /^(\d+)(?:[.,](\d*))?$/.exec(text.trim()) ?? []
  if (whole === undefined || part.slice(digits).replace(/0+$/, '') !== '') return undefined
  return Number(whole + part.slice(0, digits).padEnd(digits, '0'))
}

const two = (value: number) => String(value).padStart(2, '0')
/** As `datetime-local` has it: in the operator's own time zone. */
export function localOf(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
