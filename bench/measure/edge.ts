/** The edge on raw workerd, each response compared with a bare JSON Worker in the same runtime. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, HttpClient, headerOf, requestText } from '../lib/http.ts'
import { placeIn } from '../lib/responses.ts'
import { closedLoop, contest, type Load, type Measured, type Next } from './load.ts'
import { createSale, type Stage, startBareWorker } from './stage.ts'
import { type Bench, row, type Table } from './table.ts'

const CLIENTS = 64
/** Places polled by turns. */
const PLACES = 500
const FINAL_TRIES = 100
const JSON_TYPE = 'accept: application/json'
const HTML_TYPE = 'accept: text/html'
/** By contestant, as a multiple of the bare Worker. */
const AIMS: Readonly<Record<string, number>> = {
  'join, anonymous': 0.3,
  'join, a known visitor': 0.15,
  status: 0.6,
  schedule: 0.8,
  'sold-out page': 0.8,
  'sold-out page, unchanged': 0.8,
}
const BARE = `export default {
  fetch() { return Response.json({ status: 'waiting', number: 4012, position_in_queue: 2011, now_serving: 2001 }) }
}`

export async function* againstEdge(stage: Stage, { rounds, seconds }: Bench): AsyncGenerator<Table> {
  const { edgeUrl, edge } = stage.system
  // A queue that hardly moves keeps everyone waiting.
  const live = await createSale(stage, { stock: 1_000_000, rate: 0.01 })
  const over = await createSale(stage, { stock: 0 })
  const bareWorker = await startBareWorker(BARE)
  try {
    const places = await join(edgeUrl, live, PLACES)
    const finalTag = await finalPageTag(edgeUrl, over)
    const run = (server: { url: string; pid: number }, next: Next, right: Load['right']) => () =>
      closedLoop({ url: server.url, next, right, seconds, pids: [server.pid] }, CLIENTS)
    const at = (next: Next, right: Load['right']) => run(edge, next, right)
    let turn = 0
    let newcomer = 0
    const joinPath = `/sales/${live}/queue`
    const { bare, ...ours } = await contest<string>(rounds, {
      bare: run(bareWorker, same('GET', '/'), 200),
      'join, anonymous': at(same('POST', joinPath, JSON_TYPE), 201),
      'join, a known visitor': at(
        ({ host }) =>
          requestText('POST', joinPath, host, [
            JSON_TYPE,
            `cookie: visitor-secret=bench-visitor-${process.pid}-${++newcomer}`,
          ]),
        201,
      ),
      status: at(
        ({ host }) =>
          requestText('GET', `/sales/${live}/queue/status`, host, [
            JSON_TYPE,
            `authorization: Bearer ${places[turn++ % PLACES]}`,
          ]),
        (a) => a.status === 200 && a.body.includes('"waiting"'),
      ),
      schedule: at(same('GET', `/sales/${live}/schedule`, JSON_TYPE), 200),
      'sold-out page': at(same('GET', `/sales/${over}`, HTML_TYPE), isFinalPage),
      'sold-out page, unchanged': at(
        same('GET', `/sales/${over}`, HTML_TYPE, `if-none-match: ${finalTag}`),
        304,
      ),
    })
    if (!bare) throw new Error('nothing was measured')
    const rows = Object.entries<Measured>(ours).map(([what, measured]) => {
      const aim = AIMS[what]
      return row(what, measured, bare, aim === undefined ? null : { ratio: aim })
    })
    yield {
      title: 'The edge, on raw workerd',
      against: 'of bare',
      rows: [row('a bare JSON Worker', bare, null), ...rows],
    }
  } finally {
    await bareWorker.stop()
  }
}

/** The same request every time. */
function same(method: string, path: string, ...headers: string[]): Next {
  let text: string | undefined
  return ({ host }) => {
    text ??= requestText(method, path, host, headers)
    return text
  }
}

const isFinalPage = (a: Answer) => a.status === 200 && /^public/.test(headerOf(a, 'cache-control'))

/** The queue tokens of new visitors. */
async function join(edgeUrl: string, sale: string, visitors: number): Promise<string[]> {
  const client = new HttpClient({ url: edgeUrl, connections: 32 })
  const text = requestText('POST', `/sales/${sale}/queue`, client.host, [JSON_TYPE])
  const answers = await Promise.all(Array.from({ length: visitors }, () => client.ask(text)))
  client.close()
  return answers.map((answer) => {
    const token = placeIn(answer)?.queue_token
    if (!token) throw new Error(`A join responded ${answer.status}: ${answer.body.slice(0, 200)}`)
    return token
  })
}

/** The ETag of a sold-out sale's page, once it is final. */
async function finalPageTag(edgeUrl: string, sale: string): Promise<string> {
  const client = new HttpClient({ url: edgeUrl, connections: 1 })
  try {
    for (let tries = 0; tries < FINAL_TRIES; tries++) {
      const answer = await client.ask(requestText('GET', `/sales/${sale}`, client.host, [HTML_TYPE]))
      if (isFinalPage(answer)) return headerOf(answer, 'etag')
      await sleep(100)
    }
    throw new Error('A sale without units was not sold out within ten seconds.')
  } finally {
    client.close()
  }
}
