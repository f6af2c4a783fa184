/** Says in words why an endpoint accepts no message, and who can change that. Pure. */

/** The reasons by what an error begins with or contains: an HTTP status, or a failure of the connection. */
const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^3\d\d redirect to (\S+)/, 'It has moved to $1: change its address'],
  [/^3\d\d\b/, 'It answers with a redirect: change its address'],
  [/^400\b/, 'It cannot read the messages (400)'],
  [/^401\b/, 'It asks for a sign-in (401): it should check the signature instead'],
  [/^403\b/, 'It refuses the messages (403): perhaps it has another secret'],
  [/^404\b/, 'There is nothing at its address (404)'],
  [/^405\b/, 'Its address takes no POST (405)'],
  [/^410\b/, 'It asks for no more messages (410)'],
  [/^413\b/, 'It finds the messages too long (413)'],
  [/^429\b/, 'It asks for a rest (429)'],
  [/^(5\d\d)\b/, 'It answers $1: its server fails'],
  [/^([1-9]\d\d)\b/, 'It answers $1'],
  [/^no answer within (\d+) s/, 'It does not answer within $1 s'],
  [/ENOTFOUND|EAI_AGAIN|ENODATA/, 'The name in its address is not known'],
  [/ECONNREFUSED/, 'It refuses connections'],
  [/ECONNRESET|socket hang up|EPIPE/, 'It breaks off connections'],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, 'Its network is not reached'],
  [/certificate|CERT_|self.signed|altname/i, 'Its certificate is not valid'],
  [/SSL|TLS|EPROTO/, 'No encrypted connection to it can be made'],
  [/https is required/, 'Its address is not encrypted: https is required'],
  [/WEBHOOKS_ALLOW_PRIVATE/, 'Its address is in a private network'],
  [/not sent in time/, 'Messages were not sent within a day'],
]

/** The reason as a sentence without its full stop. An error that has none is quoted. */
export function reasonOf(error: string): string {
  for (const [pattern, reason] of REASONS) {
    const found = pattern.exec(error)
    if (found) return reason.replace('$1', found[1] ?? '')
  }
  return `It fails: ${error}`
}
