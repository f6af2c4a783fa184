/**
 * The payment page: Stripe's form inside ours, and the handling of its result. Only Stripe gets the card's data. The
 * origin gets a token, charges it, and may need the buyer for 3-D Secure, which Stripe's script then shows. The
 * order's page shows all other results. Only the payment page loads this script, and with it Stripe's.
 */
import type { Appearance, Stripe, StripeConstructor, StripeElementLocale, StripeElements } from '@stripe/stripe-js'
import type { Order } from '../../../shared/api/public.ts'

const REQUEST_TIMEOUT_MS = 20_000
const POLL_MS = 700
/** A charge takes seconds. After this long the buyer waits on the order's page instead. */
const FOLLOWED_FOR_MS = 30_000

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms))
const request = (path: string, init: RequestInit = {}) =>
  fetch(path, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })

let loading: Promise<StripeConstructor> | undefined

/** Stripe serves its script only from its own address and changes it at times, so there is no hash to check. */
function loadStripe(address: string): Promise<StripeConstructor> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = address
    script.onload = () => resolve((globalThis as unknown as { Stripe: StripeConstructor }).Stripe)
    script.onerror = () => reject(new Error(address))
    document.head.append(script)
  })
  return loading
}

const isDark = matchMedia('(prefers-color-scheme: dark)')

/** Passes the page's colours, light or dark, to Stripe's form. */
function appearance(): Appearance {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  return {
    theme: isDark.matches ? 'night' : 'stripe',
    variables: {
      colorPrimary: colour('--accent-text'),
      colorBackground: colour('--paper'),
      colorText: colour('--ink'),
      colorTextSecondary: colour('--quiet'),
      colorDanger: colour('--bad'),
      borderRadius: '12px',
      fontSizeBase: '17px',
      fontFamily: getComputedStyle(document.body).fontFamily,
    },
  }
}

class StripePayment extends HTMLElement {
  #isBusy = false

  connectedCallback() {
    void this.#start()
  }

  async #start() {
    const { key = '', script = '', amount, currency = '', confirms } = this.dataset
    try {
      const Stripe = await loadStripe(script)
      const stripe = Stripe(key, { locale: document.documentElement.lang as StripeElementLocale })
      if (confirms !== undefined) return await this.#follow(stripe)
      const elements = stripe.elements({
        mode: 'payment',
        amount: Number(amount),
        currency: currency.toLowerCase(),
        captureMethod: 'manual',
        paymentMethodCreation: 'manual',
        appearance: appearance(),
      })
      isDark.addEventListener('change', () => elements.update({ appearance: appearance() }))
      const form = elements.create('payment')
      form.on('loaderror', () => this.#giveUp())
      form.on('ready', () => this.#setBusy(false))
      form.mount(this.querySelector<HTMLElement>('[data-form]') as HTMLElement)
      this.querySelector('form')?.addEventListener('submit', (event) => {
        event.preventDefault()
        void this.#pay(stripe, elements)
      })
    } catch {
      this.#giveUp()
    }
  }

  /** If Stripe's form cannot be loaded, there is nothing to fill in or to send. */
  #giveUp() {
    for (const part of this.querySelectorAll('[data-form], button, progress')) part.remove()
    this.#say(this.dataset.away)
  }

  /** Runs one payment at a time. Stripe reports errors in the entries itself, in the page's language. */
  async #pay(stripe: Stripe, elements: StripeElements) {
    if (this.#isBusy) return
    this.#setBusy(true)
    this.#say('')
    const { order, back = '' } = this.dataset
    try {
      const { error: entry } = await elements.submit()
      if (entry) return this.#say(entry.message)
      const return_url = new URL(back, location.href).href
      const { error, confirmationToken } = await stripe.createConfirmationToken({ elements, params: { return_url } })
      if (error) return this.#say(error.message)
      const response = await request(`/orders/${order}/payment`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ payment_method: confirmationToken.id }),
      })
      // The statuses 409 and 404 mean that the order has changed or is gone, which its own page shows.
      if (!response.ok && response.status !== 409 && response.status !== 404) return this.#say(this.dataset.failed)
      await this.#follow(stripe)
    } catch {
      this.#say(this.dataset.failed)
    } finally {
      this.#setBusy(false)
    }
  }

  /** Waits for the charge, shows the bank's request, and returns to the order. */
  async #follow(stripe: Stripe) {
    const { order, back = '' } = this.dataset
    let untilMs = performance.now() + FOLLOWED_FOR_MS
    let hasAsked = false
    while (performance.now() < untilMs) {
      const now: Order | null = await request(`/orders/${order}`).then(
        (response) => (response.ok ? response.json() : null),
        () => null,
      )
      const secret = now?.payment?.status === 'requires_action' ? now.payment.client_secret : undefined
      if (now && now.status !== 'paying') break
      if (secret !== undefined && !hasAsked) {
        hasAsked = true
        // The call also fails if the payment no longer needs an action. The next request finds that out.
        await stripe.handleNextAction({ clientSecret: secret }).catch(() => {})
        untilMs = performance.now() + FOLLOWED_FOR_MS
      } else if (now?.payment?.status === 'requires_action' && secret === undefined) break
      await sleep(POLL_MS)
    }
    location.replace(back)
  }

  #say(text = this.dataset.failed ?? '') {
    const fault = this.querySelector('[role=alert]')
    if (fault) fault.textContent = text
  }

  #setBusy(isBusy: boolean) {
    this.#isBusy = isBusy
    const button = this.querySelector('button')
    if (isBusy) button?.setAttribute('aria-disabled', 'true')
    else button?.removeAttribute('aria-disabled')
  }
}

customElements.define('stripe-payment', StripePayment)
