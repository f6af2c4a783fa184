/** Holds the answers to buyers' calls against the document of docs/openapi. */

import { Answers } from '../../dev/openapi/violations.ts'
import buyers from '../../docs/openapi/buyers.json' with { type: 'json' }

const answers = new Answers(buyers)

/** Throws for an answer that the document does not describe. */
export function requireDescribed(method: string, url: string, { status, headers }: Response, body: unknown): void {
  const { pathname: path } = new URL(url)
  const violations = answers.violations({ method, path, status, type: headers.get('content-type') ?? '', body })
  if (violations.length > 0)
    throw new Error(`docs/openapi/buyers.json does not describe an answer.\n${violations.join('\n')}`)
}
