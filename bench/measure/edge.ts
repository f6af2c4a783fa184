/** The edge on raw workerd, each of its answers against a bare JSON Worker in the same runtime. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { importSecrets, QUEUE, signToken } from '../../shared/tokens.ts'
import { type Answer, HttpClient, headerOf, requestText } from '../lib/http.ts'
import { placeIn } from '../lib/responses.ts'
import { closedLoop, contest, type Measured } from './load.ts'
import { createSale, type Server, type Stage, startBareWorker } from './stage.ts'
import type { Bench, Table } from './table.ts'

const CLIENTS = 64
/** Places in line asked for by turns, as visitors poll; each is a token of its own. */
const PLACES = 500
/** More than can be asked for the first time in a run. */
const STATUSES_PER_SECOND = 20_000

export async function* againstEdge(stage: Stage, { rounds, seconds }: Bench): AsyncGenerator<Table> {
  const { edgeUrl, edge } = stage.system
  // A line that hardly moves: whoever asks is waiting.
  const live = await createSale(stage, { stock: 1_000_000, rate: 0.01 })
  const over = await createSale(stage, { stock: 0 })
  const bare = await startBareWorker(SMALL)
  const echoes: Server[] = []
  try {
    const places = await join(edgeUrl, live, PLACES)
    await untilFinal(edgeUrl, over)
    const run =
      (url: string, pid: number, next: (client: HttpClient) => string, right: (a: Answer) => boolean) => () =>
        closedLoop({ url, next, right, seconds, pids: [pid] }, CLIENTS)
    const at = (next: (client: HttpClient) => string, right: (a: Answer) => boolean) =>
      run(edgeUrl, edge.pid, next, right)
    let turn = 0
    let newcomer = 0
    const json = ['accept: application/json']
    const constant = (make: (host: string) => string) => {
      let text: string | undefined
      return (client: HttpClient) => {
        text ??= make(client.host)
        return text
      }
    }
    const statusOf = (place: () => string | undefined) =>
      at(
        ({ host }) =>
          requestText('GET', `/sales/${live}/queue/status`, host, [
            ...json,
            `authorization: Bearer ${place()}`,
          ]),
        (a) => a.status === 200 && a.body.includes('"waiting"'),
      )
    const echo = async (path: string, accept: string) => {
      const server = await startBareWorker(await sameBytes(`${edgeUrl}${path}`, accept))
      echoes.push(server)
      return run(
        server.url,
        server.pid,
        constant((host) => requestText('GET', path, host, [`accept: ${accept}`])),
        (a) => a.status === 200,
      )
    }
    const sameSchedule = await echo(`/sales/${live}/schedule`, 'application/json')
    const samePage = await echo(`/sales/${over}`, 'text/html')
    const results = await contest(rounds, {
      bare: run(
        bare.url,
        bare.pid,
        constant((host) => requestText('GET', '/', host)),
        (a) => a.status === 200,
      ),
      'join, nobody knows who': at(
        constant((host) => requestText('POST', `/sales/${live}/queue`, host, json)),
        (a) => a.status === 201,
      ),
      'join, a known visitor': at(
        ({ host }) =>
          requestText('POST', `/sales/${live}/queue`, host, [
            ...json,
            `cookie: visitor-secret=bench-visitor-${process.pid}-${++newcomer}`,
          ]),
        (a) => a.status === 201,
      ),
      status: statusOf(() => places[turn++ % places.length]),
      'status, of a place not seen before': async () => {
        const unseen = unseenPlaces(stage, live, Math.ceil(seconds * 1.25 * STATUSES_PER_SECOND))
        return statusOf(() => unseen.pop())()
      },
      schedule: at(
        constant((host) => requestText('GET', `/sales/${live}/schedule`, host, json)),
        (a) => a.status === 200,
      ),
      '  its bytes from a bare Worker': sameSchedule,
      'sold-out page': at(
        constant((host) => requestText('GET', `/sales/${over}`, host, ['accept: text/html'])),
        isFinalPage,
      ),
      '  the same from a bare Worker': samePage,
      'sold-out page, unchanged': at(
        constant((host) =>
          requestText('GET', `/sales/${over}`, host, ['accept: text/html', `if-none-match: ${finalTag}`]),
        ),
        (a) => a.status === 304,
      ),
    })
    const aims: Partial<Record<keyof typeof results, number>> = {
      'join, nobody knows who': 0.3,
      'join, a known visitor': 0.15,
      status: 0.6,
      schedule: 0.8,
      'sold-out page': 0.8,
      'sold-out page, unchanged': 0.8,
    }
    const rows = (Object.entries(results) as [keyof typeof results, Measured][]).map(([what, measured]) => ({
      what: what === 'bare' ? 'a bare JSON Worker' : what,
      measured,
      ratio: what === 'bare' ? null : measured.perSecond / results.bare.perSecond,
      cpuRatio:
        what === 'bare' || !measured.cpuMicros || !results.bare.cpuMicros
          ? null
          : results.bare.cpuMicros / measured.cpuMicros,
      aim: aims[what] === undefined ? null : { ratio: aims[what] },
    }))
    yield { title: 'The edge, on raw workerd', against: 'of bare', rows }
  } finally {
    for (const server of [bare, ...echoes]) await server.stop()
  }
}

/** A bare JSON Worker: what every answer of the edge is held against. */
const SMALL = `export default {
  fetch() { return Response.json({ status: 'waiting', number: 4012, position_in_queue: 2011, now_serving: 2001 }) }
}`

/** A Worker that has nothing but one answer of ours, its headers and its bytes: the most that could be reached with it. */
async function sameBytes(url: string, accept: string): Promise<string> {
  const answer = await fetch(url, { headers: { accept } })
  const body = await answer.text()
  const ours = [...answer.headers].filter(
    ([name]) => !/^(content-length|content-encoding|date|transfer-encoding)$/.test(name),
  )
  return `const body = new TextEncoder().encode(${JSON.stringify(body)})
const headers = ${JSON.stringify(Object.fromEntries(ours))}
export default { fetch() { return new Response(body, { headers }) } }`
}

let finalTag = ''

const isFinalPage = (a: Answer) => a.status === 200 && /^public/.test(headerOf(a, 'cache-control'))

/** The queue tokens of new visitors. */
export async function join(edgeUrl: string, sale: string, visitors: number): Promise<string[]> {
  const client = new HttpClient({ url: edgeUrl, connections: 32 })
  const text = requestText('POST', `/sales/${sale}/queue`, client.host, ['accept: application/json'])
  const answers = await Promise.all(Array.from({ length: visitors }, () => client.ask(text)))
  client.close()
  return answers.map((answer) => {
    const token = placeIn(answer)?.queue_token
    if (!token) throw new Error(`A join answered ${answer.status}: ${answer.body.slice(0, 200)}`)
    return token
  })
}

/** Places that the edge has not read yet, as it would have signed them. */
function unseenPlaces({ system }: Stage, sale: string, count: number): string[] {
  const keys = importSecrets(system.secrets.queueKeys)
  const iat = Math.floor(Date.now() / 1000)
  const places: string[] = []
  for (let num = 1; num <= count; num++)
    places.push(signToken(QUEUE, keys, { sub: randomUUID(), sale, num, iat, exp: iat + 3_600 }))
  return places
}

async function untilFinal(edgeUrl: string, sale: string): Promise<void> {
  const client = new HttpClient({ url: edgeUrl, connections: 1 })
  for (let tries = 0; tries < 100; tries++) {
    const answer = await client.ask(requestText('GET', `/sales/${sale}`, client.host, ['accept: text/html']))
    if (isFinalPage(answer)) {
      finalTag = headerOf(answer, 'etag')
      client.close()
      return
    }
    await sleep(100)
  }
  throw new Error('A sale without units was not sold out within ten seconds.')
}
