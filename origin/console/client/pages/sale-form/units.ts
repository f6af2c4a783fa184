/** Converts times for `datetime-local`. Pure. */

const two = (value: number) => String(value).padStart(2, '0')
/** The time in the format of `datetime-local`, in the operator's time zone. */
export function localOf(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
