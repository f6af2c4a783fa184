/**
 * A stand-in for the part of Stripe's browser script that the payment page uses, with the types of Stripe itself. It
 * runs in the page: the test bundles it, and serves it from another origin. A card's number decides the result;
 * `4242` is good, `3155` needs its buyer, and anything else is incomplete.
 */
import type {
  ConfirmationTokenResult,
  PaymentIntentOrSetupIntentResult,
  Stripe,
  StripeElements,
  StripeElementsOptionsMode,
  StripePaymentElement,
} from '@stripe/stripe-js'

const TOKENS: Readonly<Record<string, string>> = { 4242: 'ctoken_visa', 3155: 'ctoken_3ds' }

/** The page's calls, which the test reads. */
interface StripeJsCalls {
  key: string
  locale: string | undefined
  elements: StripeElementsOptionsMode | null
  appearances: unknown[]
  secrets: string[]
}
const page = globalThis as unknown as {
  calls: StripeJsCalls
  /** The test acts as the bank. */
  bank?: (secret: string) => Promise<void>
  Stripe: (key: string, options?: { locale?: string }) => object
}
page.calls = { key: '', locale: undefined, elements: null, appearances: [], secrets: [] }

const number = () => document.querySelector<HTMLInputElement>('[name=card]')?.value ?? ''
let isSubmitted = false

const paymentElement = (handlers: Record<string, (() => void) | undefined>) =>
  ({
    on: (event: string, act: () => void) => {
      handlers[event] = act
    },
    mount(place: string | HTMLElement) {
      if (typeof place === 'string') throw new Error('an element is wanted')
      place.innerHTML = '<label class="field">Card number <input name="card" autocomplete="cc-number"></label>'
      setTimeout(() => handlers.ready?.(), 50)
    },
  }) as unknown as StripePaymentElement

function elements(options: StripeElementsOptionsMode) {
  const amount = 'amount' in options ? options.amount : undefined
  if (!Number.isInteger(amount) || options.currency !== options.currency?.toLowerCase())
    throw new Error('Invalid value for elements(): amount or currency')
  page.calls.elements = options
  return {
    create: (type: string) => {
      if (type !== 'payment') throw new Error(`a ${type} element`)
      return paymentElement({})
    },
    update: (change: object) => void page.calls.appearances.push(change),
    submit: async () => {
      isSubmitted = number() in TOKENS
      if (isSubmitted) return { selectedPaymentMethod: 'card' }
      return { error: { type: 'validation_error' as const, message: 'Your card number is incomplete.' } }
    },
  } satisfies Partial<Record<keyof StripeElements, unknown>>
}

const stripe = {
  elements,
  async createConfirmationToken({ params }: Parameters<Stripe['createConfirmationToken']>[0]) {
    if (!isSubmitted) throw new Error('elements.submit() must be called before stripe.createConfirmationToken()')
    if (!URL.canParse(params?.return_url ?? '')) throw new Error('params.return_url must be an absolute URL')
    return { confirmationToken: { id: TOKENS[number()] } } as ConfirmationTokenResult
  },
  async handleNextAction({ clientSecret }: { clientSecret: string }) {
    page.calls.secrets.push(clientSecret)
    await page.bank?.(clientSecret)
    return { paymentIntent: { status: 'requires_capture' } } as PaymentIntentOrSetupIntentResult
  },
} satisfies Partial<Record<keyof Stripe, unknown>>

page.Stripe = (key, options) => {
  page.calls.key = key
  page.calls.locale = options?.locale
  return stripe
}
