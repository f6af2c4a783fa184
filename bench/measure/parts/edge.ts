/**
 * Measures the edge on raw workerd. Each response is compared with a bare JSON Worker in the same runtime. The floor
 * is a Worker that does only what the same request requires (servers/floor-worker.js).
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK, type Server } from '../../../dev/lib/processes.ts'
import { startCdn } from '../../../dev/servers/cdn.ts'
import { identityOf, visitorKey } from '../../../edge/http/visitor-secret.ts'
import { importSecrets } from '../../../shared/keys.ts'
import { QUEUE, signToken } from '../../../shared/tokens.ts'
import { type Answer, HttpClient, requestText } from '../../lib/http.ts'
import { placeIn } from '../../lib/responses.ts'
import { closedLoop, contest, type Load, type Next } from '../load.ts'
import { ahead, row, type Table } from '../rows.ts'
import { createSale, type Stage, startBareWorker } from '../stage.ts'
import type { Bench } from '../table.ts'

const CLIENTS = 64
/** The number of places that are polled in turn. */
const PLACES = 500
/** The number of visitors who joined before them. */
const CALLED = 100
/** These numbers exceed what a run can use up. */
const UNSEEN_PER_SECOND = 30_000
const KNOWN_PER_SECOND = 20_000
const FINAL_TRIES = 100
const JSON_TYPE = 'accept: application/json'
const HTML = { accept: 'text/html' }
const HTML_TYPE = `accept: ${HTML.accept}`
const BARE = `export default {
  fetch() { return Response.json({ status: 'waiting', number: 4012, position_in_queue: 2011, now_serving: 2001 }) }
}`

export async function* againstEdge(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const { rounds, seconds } = bench
  const { edgeUrl, edge } = stage.system
  // A queue that hardly moves makes all visitors wait.
  const live = await createSale(stage, { stock: 1_000_000, rate: 0.01 })
  const over = await createSale(stage, { stock: 0 })
  const workers: Server[] = []
  const worker = async (...script: Parameters<typeof startBareWorker>) => {
    const server = await startBareWorker(...script)
    workers.push(server)
    return server
  }
  try {
    // Even so, the first visitors in the queue are called during the rounds.
    await join(edgeUrl, live, CALLED)
    const places = await join(edgeUrl, live, PLACES)
    const finalTag = await finalPageTag(edgeUrl, over)
    const run = (server: { url: string; pid: number }, next: Next, right: Load['right']) => () =>
      closedLoop({ url: server.url, next, right, seconds, pids: [server.pid] }, CLIENTS)
    const floor = await worker(floorScript(stage), 'Visitors')
    const at = (next: Next, right: Load['right']) => run(edge, next, right)
    const polls = (place: () => string | undefined): Next => {
      return ({ host }) => {
        const token = place()
        if (token === undefined) return null
        const headers = [JSON_TYPE, `authorization: Bearer ${token}`]
        return requestText('GET', `/sales/${live}/queue/status`, host, headers)
      }
    }
    const isWaiting = (a: Answer) => a.status === 200 && a.body.includes('"waiting"')
    const unseen = (server: Server | typeof edge) => () => {
      const fresh = unseenPlaces(stage, live, Math.ceil(seconds * UNSEEN_PER_SECOND))
      return run(
        server,
        polls(() => fresh.pop()),
        isWaiting,
      )()
    }
    let turn = 0
    const joinPath = `/sales/${live}/queue`
    const joins = same('POST', joinPath, JSON_TYPE)
    const known = (server: Server | typeof edge) => () => {
      const cookies = knownCookies(stage, Math.ceil(seconds * KNOWN_PER_SECOND))
      const knownJoins: Next = ({ host }) => {
        const cookie = cookies.pop()
        return cookie === undefined ? null : requestText('POST', joinPath, host, [JSON_TYPE, `cookie: ${cookie}`])
      }
      return run(server, knownJoins, 201)()
    }
    const statuses = polls(() => places[turn++ % PLACES])
    const schedule = same('GET', `/sales/${live}/schedule`, JSON_TYPE)
    const page = same('GET', `/sales/${over}`, HTML_TYPE)
    const results = await contest(rounds, {
      bare: run(await worker(BARE), same('GET', '/'), 200),
      join: at(joins, 201),
      'join, floor': run(floor, joins, 201),
      known: known(edge),
      'known, floor': known(floor),
      status: at(statuses, isWaiting),
      'status, floor': run(floor, statuses, isWaiting),
      unseen: unseen(edge),
      'unseen, floor': unseen(floor),
      schedule: at(schedule, 200),
      'schedule, echoed': run(await worker(await echoOf(edgeUrl, schedule)), schedule, 200),
      page: at(page, isFinalPage),
      'page, echoed': run(await worker(await echoOf(edgeUrl, page)), page, isFinalPage),
      'page, unchanged': at(same('GET', `/sales/${over}`, HTML_TYPE, `if-none-match: ${finalTag}`), 304),
    })
    const { bare } = results
    const compared = (what: string, name: 'join' | 'known' | 'status' | 'unseen', ratio: number, floor: string) =>
      row(what, results[name], bare, { ratio }, { what: floor, measured: results[`${name}, floor`] })
    yield {
      title: 'The edge, of a bare Worker',
      against: 'of bare',
      rows: [
        row('a bare JSON Worker', bare, null),
        compared('join, anonymous', 'join', 0.6, 'one token signed'),
        compared('join, a known visitor', 'known', 0.35, 'one call of an object, one row read, one token signed'),
        compared('status', 'status', 0.8, 'one place looked up'),
        compared('status, unseen places', 'unseen', 0.6, 'one token verified'),
        row('schedule', results.schedule, bare),
        row('sold-out page', results.page, bare),
        row('sold-out page, unchanged', results['page, unchanged'], bare),
      ],
    }
    yield {
      title: 'The edge, of a Worker that sends the same bytes',
      against: 'ours is',
      rows: [
        ahead('schedule', results['schedule, echoed'], results.schedule, { ratio: 0.95 }),
        ahead('sold-out page', results['page, echoed'], results.page, { ratio: 0.95 }),
      ],
    }
    yield await behindCache(stage, bench, page)
  } finally {
    for (const server of workers) await server.stop()
  }
}

/** Measures the sold-out page behind a real cache. No request may reach the Worker once the cache has the page. */
async function behindCache({ system }: Stage, { rounds, seconds }: Bench, page: Next): Promise<Table> {
  const { edge } = system
  const cdn = await startCdn({ edgeUrl: edge.url })
  try {
    const load = { next: page, right: isFinalPage, seconds }
    const { worker, cache } = await contest(rounds, {
      worker: () => closedLoop({ ...load, url: edge.url, pids: [edge.pid] }, CLIENTS),
      cache: async () => {
        // The request is the same as the load's, because the cache stores a response for each value of the headers in
        // `Vary`.
        const client = new HttpClient({ url: cdn.url, connections: 1 })
        await client.request(page(client) ?? '')
        client.close()
        const { toEdge } = await cdn.counts()
        const measured = await closedLoop({ ...load, url: cdn.url, pids: [cdn.pid] }, CLIENTS)
        const calls = (await cdn.counts()).toEdge - toEdge
        return calls === 0 ? measured : { ...measured, wrong: calls, why: 'called the Worker' }
      },
    })
    return {
      title: 'The sold-out page, of the Worker alone',
      against: 'ratio',
      rows: [
        row('the Worker alone', worker, null),
        row('from a cache before it, without a call of the Worker', cache, worker, { ratio: 2 }),
      ],
    }
  } finally {
    await cdn.stop()
  }
}

/** The Worker that does only what is required, with the edge's key. */
export function floorScript({ system }: Stage): string {
  const script = readFileSync(new URL('../servers/floor-worker.js', import.meta.url), 'utf8')
  return `const SECRET = ${JSON.stringify(system.secrets.queueKeys.keys[0]?.k)}\n${script}`
}

/** Returns the same request every time. */
function same(method: string, path: string, ...headers: string[]): Next {
  // The host is irrelevant to all of the servers.
  const text = requestText(method, path, LOOPBACK, headers)
  return () => text
}

const isFinalPage = (a: Pick<Answer, 'status' | 'body'>) => a.status === 200 && a.body.includes('id="final"')

/** A Worker that only returns the edge's response to a request. */
async function echoOf(edgeUrl: string, next: Next): Promise<string> {
  const client = new HttpClient({ url: edgeUrl, connections: 1 })
  const { head, body } = await client.request(next(client) ?? '')
  client.close()
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(/: *(.*)/, 2))
    .filter(([name = '']) => !/^(content-length|date|transfer-encoding)$/i.test(name))
  return `const body = new TextEncoder().encode(${JSON.stringify(body)})
const headers = ${JSON.stringify(headers)}
export default { fetch() { return new Response(body, { headers }) } }`
}

/** Places that the edge reads for the first time, signed as the edge would. */
function unseenPlaces({ system }: Stage, sale: string, count: number): string[] {
  const keys = importSecrets(system.secrets.queueKeys)
  const iat = Math.floor(Date.now() / 1000)
  return Array.from({ length: count }, (_, i) =>
    signToken(QUEUE, keys, { sub: randomUUID(), sale, num: CALLED + i + 1, iat, exp: iat + 3_600 }),
  )
}

/** Cookies of visitors who have not joined yet, signed as the edge would. */
function knownCookies({ system }: Stage, count: number): string[] {
  const key = visitorKey(system.secrets.queueKeys)
  return Array.from({ length: count }, () => `visitor-secret=${identityOf(randomUUID(), key).cookie}`)
}

/** The queue tokens of new visitors. */
export async function join(edgeUrl: string, sale: string, visitors: number): Promise<string[]> {
  const client = new HttpClient({ url: edgeUrl, connections: 32 })
  const text = requestText('POST', `/sales/${sale}/queue`, client.host, [JSON_TYPE])
  const answers = await Promise.all(Array.from({ length: visitors }, () => client.request(text)))
  client.close()
  return answers.map((answer) => {
    const token = placeIn(answer)?.queue_token
    if (!token) throw new Error(`A join responded ${answer.status}: ${answer.body.slice(0, 200)}`)
    return token
  })
}

/** The ETag of a sold-out sale's page, once it is final. */
async function finalPageTag(edgeUrl: string, sale: string): Promise<string> {
  for (let tries = 0; tries < FINAL_TRIES; tries++) {
    const response = await fetch(`${edgeUrl}/sales/${sale}`, { headers: HTML })
    if (isFinalPage({ status: response.status, body: await response.text() })) return response.headers.get('etag') ?? ''
    await sleep(100)
  }
  throw new Error('A sale without units was not sold out within ten seconds.')
}
