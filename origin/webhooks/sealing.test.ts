/** The ledger stores the secrets of endpoints encrypted, including those of earlier keys. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { newKeySet } from '../../shared/keys.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { type Endpoint, type EndpointRow, SecretSealer } from './sealing.ts'
import { newSecret, rotate } from './signing.ts'
import { activeEndpoints, addEndpoint, changeEndpoint, sealSecrets } from './webhook-queries.ts'

const sql = await useLedger()
const [former, next] = [newKeySet(), newKeySet()]
const [before, during, after] = [former, { keys: [...next.keys, ...former.keys] }, next].map(
  (keys) => new SecretSealer(keys),
) as [SecretSealer, SecretSealer, SecretSealer]

const rows = () => sql<EndpointRow[]>`select * from webhook_endpoints order by created_at`
const dump = async () => JSON.stringify(await rows())
const secretsBy = async (sealer: SecretSealer) => (await activeEndpoints(sql, sealer)).map(({ secrets }) => secrets)

async function add(sealer: SecretSealer) {
  const [id, secret] = [randomUUID(), newSecret()]
  const about = { endpoint_id: id, url: 'https://shop.example', events: [], state: 'active', note: '' } as const
  await addEndpoint(sql, sealer, { ...about, events: ['*'], secrets: [{ secret }] }, 'test')
  return { id, secret }
}

test('a secret is nowhere as it signs, is bound to its endpoint, and follows its keys', async () => {
  const [one, other] = [await add(before), await add(before)]
  const secret = newSecret()
  const turn = ({ secrets }: Pick<Endpoint, 'secrets'>) => rotate(secrets, secret, Date.now())
  await changeEndpoint(sql, before, one.id, (endpoint) => ({ secrets: turn(endpoint) }), 'test')
  const all = [[{ secret }, { secret: one.secret, until: expect.any(String) }], [{ secret: other.secret }]]
  for (const sealer of [before, during]) expect(await secretsBy(sealer)).toEqual(expect.arrayContaining(all))
  for (const plain of [secret, one.secret, other.secret]) expect(await dump()).not.toContain(plain.slice(6))

  await expect(secretsBy(after)).rejects.toThrow('WEBHOOK_KEYS has no key')
  await sealSecrets(sql, during)
  expect(await secretsBy(after)).toEqual(expect.arrayContaining(all))

  const [first, second] = await rows()
  expect(() => after.open({ ...(first as EndpointRow), endpoint_id: second?.endpoint_id ?? '' })).toThrow()
})
