/**
 * Measures the latest searches of signed-in visitors from the edge to the stores and back: a read of the list in
 * Redis, one after the other and at a steady rate, where a read may wait for earlier ones; the first read of an
 * account, which the ledger answers; and a new search.
 */
import { startDemoShop } from '../../../dev/servers/demo-shop.ts'
import { startSystem } from '../../../dev/system.ts'
import { SESSION } from '../../crowd/identities.ts'
import { requestText } from '../../lib/http.ts'
import { closedLoop, contest, type Next, nowMeasuring, openLoop } from '../load.ts'
import { type Aim, row, type Table } from '../rows.ts'
import type { Bench } from '../table.ts'

const ACCOUNTS = 200
/** The number of searches of each account, which exceeds the retained ones. */
const SEARCHES = 12
const CLIENTS = 16
const READS_PER_SECOND = 200
const WRITES_PER_SECOND = 100
const AIM: Aim = { p99Ms: 10 }

export async function* recentSearches({ rounds, seconds }: Pick<Bench, 'rounds' | 'seconds'>): AsyncGenerator<Table> {
  const shop = await startDemoShop()
  const system = await startSystem({ originEnv: { LOG_LEVEL: 'error' }, edgeVars: shop.vars })
  try {
    const sessions = Array.from({ length: ACCOUNTS }, (_, i) => shop.session(`searcher-${i}`))
    let calls = 0
    const session = () => sessions[calls++ % ACCOUNTS] ?? ''
    const headersOf = (token: string) => ['accept: application/json', `${SESSION} Bearer ${token}`]
    const read =
      (token: () => string): Next =>
      ({ host }) =>
        requestText('GET', '/me/searches', host, headersOf(token()))
    const add: Next = ({ host }) => {
      const q = `search ${Math.floor(calls / ACCOUNTS)}`
      return requestText('POST', '/me/searches', host, headersOf(session()), JSON.stringify({ q }))
    }
    const load = { url: system.edgeUrl, right: 200, seconds }
    nowMeasuring('  filling the lists')
    await closedLoop({ ...load, next: (client) => (calls < ACCOUNTS * SEARCHES ? add(client) : null) }, CLIENTS)
    let newcomers = 0
    const newcomer = () => shop.session(`newcomer-${newcomers++}`)
    const health: Next = ({ host }) => requestText('GET', '/healthz', host)
    const results = await contest(rounds, {
      floor: () => openLoop({ ...load, url: system.originUrl, next: health }, READS_PER_SECOND),
      alone: () => closedLoop({ ...load, next: read(session) }, 1),
      list: () => openLoop({ ...load, next: read(session) }, READS_PER_SECOND),
      first: () => openLoop({ ...load, next: read(newcomer) }, READS_PER_SECOND),
      added: () => openLoop({ ...load, next: add }, WRITES_PER_SECOND),
    })
    const floor = { what: `/healthz of the origin, ${READS_PER_SECOND} a second`, measured: results.floor }
    yield {
      title: 'The latest searches of an account, through the edge',
      against: '',
      rows: [
        row('read, one after the other', results.alone, null, AIM, floor),
        row(`read, ${READS_PER_SECOND} a second`, results.list, null, AIM, floor),
        row(`read for the first time, ${READS_PER_SECOND} a second`, results.first, null, AIM, floor),
        row(`a search added, ${WRITES_PER_SECOND} a second`, results.added, null),
      ],
    }
  } finally {
    await system.stop()
    shop.stop()
  }
}
