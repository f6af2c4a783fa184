/**
 * Keeps what was typed into the form of a turn in this tab, for a reload or a way back. It is gone with the order. A
 * key makes one order of a form, and terms are accepted each time, so neither is kept.
 */
const APART = ['idempotency_key', 'total_minor', 'accept']

const keyOf = (sale: string) => `typed ${sale}`
const saleOf = (form: HTMLFormElement) => new URL(form.action).pathname.split('/')[2] ?? ''

export function keepTyped(form: HTMLFormElement): void {
  const fields = [...new FormData(form)].filter(([name]) => !APART.includes(name))
  // The form of a hall before a cart, and the one in line, have only a part of the fields.
  const isPart = form.elements.namedItem('take') !== null || form.closest('#prepare') !== null
  const before = isPart ? Object.entries(loadTyped(form) ?? {}) : []
  const others = before.filter(([name]) => !name.startsWith('seat:'))
  try {
    sessionStorage.setItem(keyOf(saleOf(form)), JSON.stringify(Object.fromEntries([...others, ...fields])))
  } catch {
    // The browser has no storage.
  }
}

export function loadTyped(form: HTMLFormElement): Readonly<Record<string, string>> | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(saleOf(form))) ?? 'null')
  } catch {
    return null
  }
}

/** The page that replaces the form that was sent may be an order's. */
export function forgetWithOrder(form: HTMLFormElement): void {
  const observer = new MutationObserver(() => {
    if (form.isConnected) return
    observer.disconnect()
    if (document.getElementById('order')) sessionStorage.removeItem(keyOf(saleOf(form)))
  })
  observer.observe(document.body, { childList: true, subtree: true })
}

/** Fills in the fields that the form has. A choice that is no longer for sale stays open. */
export function fillIn(form: HTMLFormElement, typed: Readonly<Record<string, string>>): void {
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[name]')) {
    const { name, type } = field
    const value = typed[name]
    if (APART.includes(name) || field.disabled || type === 'hidden') continue
    if (field instanceof HTMLInputElement && type === 'checkbox') field.checked = value !== undefined
    else if (field instanceof HTMLInputElement && type === 'radio') field.checked = field.value === value
    else if (value !== undefined) field.value = value
  }
  // The fields follow their country.
  form.querySelector('[name=country]')?.dispatchEvent(new Event('change'))
}
