/**
 * Cloudflare Turnstile on the page: its widget is shown where the form to join comes into view, and the form waits for the
 * widget's token. Only pages of sales that ask for it load this, and through it Cloudflare's script.
 */

/** Cloudflare serves its script from this address alone, and never the same for long: it has no hash to check. */
const API = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'

interface Turnstile {
  render(box: HTMLElement, options: object): string
  remove(widget: string): void
}

const api = Promise.withResolvers<Turnstile>()
const script = document.createElement('script')
script.src = API
script.onload = () => api.resolve((globalThis as unknown as { turnstile: Turnstile }).turnstile)
script.onerror = () => api.reject(new Error(API))
api.promise.catch(() => {})
document.head.append(script)

class TurnstileWidget extends HTMLElement {
  #widget: string | null = null
  #hasToken = false
  #isSent = false
  readonly #seen = new IntersectionObserver(([entry]) => {
    if (entry?.isIntersecting) void this.#show()
  })

  connectedCallback() {
    this.#seen.observe(this)
    this.closest('form')?.addEventListener('submit', this.#onSubmit, { capture: true })
  }

  disconnectedCallback() {
    this.#seen.disconnect()
    const widget = this.#widget
    if (widget !== null) void api.promise.then((turnstile) => turnstile.remove(widget))
  }

  async #show() {
    this.#seen.disconnect()
    try {
      const turnstile = await api.promise
      this.#widget = turnstile.render(this, {
        sitekey: this.dataset.sitekey,
        language: document.documentElement.lang,
        theme: 'auto',
        size: 'flexible',
        'response-field-name': 'turnstile',
        callback: () => this.#onToken(),
        'expired-callback': () => {
          this.#hasToken = false
        },
      })
    } catch {
      this.textContent = this.dataset.away ?? ''
      this.setAttribute('role', 'alert')
    }
  }

  /** A form sent before its token is there waits for it. */
  readonly #onSubmit = (event: Event) => {
    if (this.#hasToken) return
    event.preventDefault()
    event.stopPropagation()
    this.#isSent = true
  }

  #onToken() {
    this.#hasToken = true
    if (this.#isSent) this.closest('form')?.requestSubmit()
    this.#isSent = false
  }
}

customElements.define('turnstile-widget', TurnstileWidget)
