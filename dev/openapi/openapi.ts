/**
 * `npm run openapi`: writes the documents of docs/openapi, which the servers serve and the tests compare, and the types
 * of the client.
 */
import { writeFile } from 'node:fs/promises'
import { buyersDocument } from './buyers.ts'
import { clientTypes } from './client-types.ts'
import { operatorsDocument, originDocument } from './operators/operators-document.ts'
import { paymentsDocument } from './payment-calls.ts'
import { webhooksDocument } from './webhooks.ts'

const [buyers, operators, webhooks] = [buyersDocument(), operatorsDocument(), webhooksDocument()]

export const DOCUMENTS = {
  'docs/openapi/buyers.json': buyers,
  'docs/openapi/operators.json': originDocument(),
  'docs/openapi/webhooks.json': webhooks,
  'docs/openapi/payments.json': paymentsDocument(),
}

export const textOf = (document: object) => `${JSON.stringify(document, null, 2)}\n`

/** The text of each file that is written. */
export const FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(DOCUMENTS).map(([path, document]) => [path, textOf(document)])),
  'client/src/types/buyers.ts': clientTypes(buyers, { withCalls: 'BuyersCalls' }),
  'client/src/types/operators.ts': clientTypes(operators, { withCalls: 'OperatorsCalls' }),
  'client/src/types/webhooks.ts': clientTypes(webhooks, { withCalls: null }),
}

if (import.meta.main)
  for (const [path, text] of Object.entries(FILES)) {
    await writeFile(path, text)
    console.log(path)
  }
