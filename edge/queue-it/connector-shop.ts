/** A shop whose server runs Queue-it's own connector, and its visitors, for the tests of this room. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import {
  CancelEventConfig,
  type IConnectorContextProvider,
  type IEnqueueTokenProvider,
  KnownUser,
  QueueEventConfig,
  type RequestValidationResult,
} from '@queue-it/connector-javascript'
import type { QueueItCustomer } from '../http/queue-it-setting.ts'

export const SECRET = 'e1f7a3b2-4c5d-4e6f-8a9b-0c1d2e3f4a5b-6c7d8e9f'
export const API_KEY = '7d1c2b3a-0f9e-4d8c-b7a6-5e4d3c2b1a09'

/** The setting of one customer with one event, as an operator writes it. */
export const settingOf = (event: string, changed: Partial<QueueItCustomer> = {}): string =>
  JSON.stringify([
    { customer: 'acme', secret: SECRET, hosts: ['shop.example'], events: { [event]: event }, ...changed },
  ])

const PREFIX = 'q/acme'

interface Sent {
  readonly address?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Made {
  readonly secret?: string
  readonly enqueueToken?: string
  /** The host of the room. */
  readonly domain?: string
}

/** A browser of the shop, with its cookies there. */
export class ShopVisitor {
  readonly event: string
  readonly cookies = new Map<string, string>()
  readonly #made: Made

  constructor(event: string, made: Made = {}) {
    this.event = event
    this.#made = made
  }

  /** Opens an address of the shop, which the connector protects. */
  open(url: string, sent: Sent = {}): Promise<RequestValidationResult> {
    const { token, target } = partsOf(url, sent)
    const { secret = SECRET } = this.#made
    const cookie = ['.shop.example', true, true] as const
    const room = [this.#domain, PREFIX, true, 20] as const
    const config = new QueueEventConfig(this.event, [], '', '', ...room, ...cookie, 7, 'checkout', false, null)
    return KnownUser.resolveQueueRequestByLocalConfig(
      target,
      token,
      config,
      'acme',
      secret,
      this.#context(url, sent),
      '',
    )
  }

  /** The same by an integration configuration. */
  openBy(integration: string, url: string, sent: Sent = {}): Promise<RequestValidationResult> {
    const { token, target } = partsOf(url, sent)
    return KnownUser.validateRequestByIntegrationConfig(
      ...([target, token, integration, 'acme', SECRET, this.#context(url, sent)] as const),
    )
  }

  /** Opens an address where the connector cancels, such as that of a completed order. */
  cancel(url: string, sent: Sent = {}): RequestValidationResult {
    const cookie = ['.shop.example', true, true] as const
    const config = new CancelEventConfig([this.event], this.#domain, PREFIX, ...cookie, 7, 'done')
    return KnownUser.cancelRequestByLocalConfig(url, '', config, 'acme', SECRET, this.#context(url, sent))
  }

  get #domain(): string {
    return this.#made.domain ?? 'edge.test'
  }

  #context(url: string, { address = '192.0.2.1', headers = {} }: Sent): IConnectorContextProvider {
    const { enqueueToken } = this.#made
    const tokens: IEnqueueTokenProvider = { getEnqueueToken: () => enqueueToken ?? '' }
    return {
      getHttpRequest: () => ({
        getUserAgent: () => 'a browser',
        getHeader: (name) => headers[name.toLowerCase()] ?? '',
        getAbsoluteUri: () => url,
        getUserHostAddress: () => address,
        getCookieValue: (name) => this.cookies.get(name),
        getRequestBodyAsString: () => '',
      }),
      getHttpResponse: () => ({
        setCookie: (name, value) => void (value === '' ? this.cookies.delete(name) : this.cookies.set(name, value)),
      }),
      getCryptoProvider: () => ({
        getSha256Hash: (secret, text) => bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(text))),
      }),
      getEnqueueTokenProvider: () => tokens,
    }
  }
}

/** The token of a request, in its query or its header, and its address without one, as a shop's code finds them. */
function partsOf(url: string, { headers = {} }: Sent): { readonly token: string; readonly target: string } {
  const inQuery = /[?&]queueittoken=([^&]*)/.exec(url)?.[1]
  const target = url.replace(/[?&]queueittoken=[^&]*/, '')
  return { token: inQuery ?? headers['x-queueittoken'] ?? '', target }
}

/** The path of the edge to which a connector's redirect leads. */
export function pathOfRedirect({ redirectUrl }: Pick<RequestValidationResult, 'redirectUrl'>): string {
  const { host, pathname, search } = new URL(redirectUrl)
  if (host !== 'edge.test') throw new Error(`not to the edge: ${redirectUrl}`)
  return pathname + search
}
