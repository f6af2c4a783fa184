/**
 * The settings of the edge in its tests: those of its Worker (vitest.config.ts), and of tests that need no Worker.
 */

/** A set of symmetric keys by their names, as a setting. */
export function keySet(...kids: string[]): string {
  const keyOf = (kid: string) => btoa(kid.padEnd(32, '.')).replaceAll('=', '')
  return JSON.stringify({ keys: kids.map((kid) => ({ kty: 'oct', kid, k: keyOf(kid) })) })
}

export const settingsOf = (originUrl: string) => ({
  ORIGIN_URL: originUrl,
  EDGE_TOKEN: 'the token of the edge',
  QUEUE_KEYS: keySet('queue'),
  ADMISSION_KEYS: keySet('admission'),
  ENVIRONMENT: 'development',
  PAYMENT_PAGE: 'sandbox',
  TICKET_SHARDS: '4',
  CLAIM_SECONDS: '30',
  CACHE_PURGE_URL: `${originUrl}/cache`,
  CACHE_PURGE_TOKEN: 'the-purge-token',
})
