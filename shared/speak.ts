/** Numbers, durations and money as people say them; the same on the server and in the browser. */

/** Fills `{name}` in a text. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

export function count(lang: string, value: number): string {
  return new Intl.NumberFormat(lang).format(value)
}

export function money(lang: string, minor: number, currency: string): string {
  const format = new Intl.NumberFormat(lang, { style: 'currency', currency })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return format.format(minor / 10 ** digits)
}

/** A rough duration, for a wait: "3 minutes", "40 seconds", "2 hours". */
export function roughly(lang: string, seconds: number): string {
  const unit = (value: number, name: 'second' | 'minute' | 'hour') =>
    new Intl.NumberFormat(lang, { style: 'unit', unit: name, unitDisplay: 'long' }).format(value)
  if (seconds < 55) return unit(Math.max(5, Math.ceil(seconds / 5) * 5), 'second')
  if (seconds < 5_400) return unit(Math.round(seconds / 60), 'minute')
  return unit(Math.round(seconds / 1_800) / 2, 'hour')
}

/** A countdown: 1:04:09, 4:09, 0:09; with days in front where there are any. */
export function clock(lang: string, seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds))
  const two = (value: number) => String(value).padStart(2, '0')
  const [days, hours, minutes] = [
    Math.floor(left / 86_400),
    Math.floor(left / 3_600) % 24,
    Math.floor(left / 60) % 60,
  ]
  const inDays =
    days > 0
      ? `${new Intl.NumberFormat(lang, { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(days)} `
      : ''
  return `${inDays}${hours > 0 || days > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(left % 60)}`
}
