/** `npm run openapi`: writes the documents of docs/openapi, which the servers serve and the tests compare. */
import { writeFile } from 'node:fs/promises'
import { buyersDocument } from './buyers.ts'
import { operatorsDocument } from './operators/operators-document.ts'
import { webhooksDocument } from './webhooks.ts'

export const DOCUMENTS = {
  'docs/openapi/buyers.json': buyersDocument,
  'docs/openapi/operators.json': operatorsDocument,
  'docs/openapi/webhooks.json': webhooksDocument,
}

export const textOf = (document: object) => `${JSON.stringify(document, null, 2)}\n`

if (import.meta.main)
  for (const [path, make] of Object.entries(DOCUMENTS)) {
    await writeFile(path, textOf(make()))
    console.log(path)
  }
