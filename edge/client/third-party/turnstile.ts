/**
 * Cloudflare Turnstile on the page. Its widget is shown when the form to join becomes visible, and the form waits for
 * the widget's token. Only pages of sales that use it load this script, and with it Cloudflare's.
 */

/** Cloudflare serves its script only from this address and changes it often, so there is no hash to check. */
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

  /** A form that is sent before its token has arrived waits for it. */
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
