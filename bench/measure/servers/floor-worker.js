/**
 * The floor of the edge: for each request only what must be done, and nothing of what makes it safe, fair or polite. The
 * bench puts SECRET, a queue key of the edge, before it.
 *
 *   join            one token signed
 *   known visitor   one call of an object, one row read there, one token signed
 *   status          one place looked up; verified and remembered where it is new
 */
import { DurableObject } from 'cloudflare:workers'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const BASE64URL = { alphabet: 'base64url', omitPadding: true }
const text64 = (text) => encoder.encode(text).toBase64(BASE64URL)
const HEADER = text64('{"alg":"HS256","typ":"JWT"}')
const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' }

const secret = Uint8Array.fromBase64(SECRET, { alphabet: 'base64url' })
let imported
const key = () => {
  imported ??= crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return imported
}
const macOf = async (signed) =>
  new Uint8Array(await crypto.subtle.sign('HMAC', await key(), encoder.encode(signed))).toBase64(BASE64URL)

export class Visitors extends DurableObject {
  #number = 0

  constructor(ctx, env) {
    super(ctx, env)
    ctx.storage.sql.exec('create table if not exists visitors (visitor text primary key, number integer) without rowid')
  }

  numberOf(visitor) {
    const [known] = this.ctx.storage.sql.exec('select number from visitors where visitor = ?', visitor)
    return known?.number ?? ++this.#number
  }
}

const places = new Map()
let number = 0

async function join(visitor, num) {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { sub: visitor, sale: 'bench', num, iat, exp: iat + 86_400, iss: 'flash-sale-edge', aud: 'queue' }
  const signed = `${HEADER}.${text64(JSON.stringify(claims))}`
  return respond(num, 201, `${signed}.${await macOf(signed)}`)
}

async function placeIn(token) {
  const [header, payload, mac] = token.split('.')
  if ((await macOf(`${header}.${payload}`)) !== mac) throw new Error('not signed')
  const place = JSON.parse(decoder.decode(Uint8Array.fromBase64(payload, { alphabet: 'base64url' })))
  places.set(token, place)
  return place
}

function respond(num, status, queue_token) {
  const now = { position_in_queue: num, now_serving: 1, estimated_wait_time: null, poll_after_ms: 60_000 }
  const body = JSON.stringify({ status: 'waiting', number: num, ...now, queue_token })
  return new Response(body, { status, headers: JSON_TYPE })
}

export default {
  async fetch(request, env) {
    if (request.method === 'POST') {
      const cookie = request.headers.get('cookie')
      if (cookie === null) return join(crypto.randomUUID(), ++number)
      const visitor = cookie.slice('visitor-secret='.length)
      return join(visitor, await env.OBJECTS.getByName('shard').numberOf(visitor))
    }
    const token = request.headers.get('authorization')?.slice('Bearer '.length)
    if (!token) return new Response('{}')
    const place = places.get(token) ?? (await placeIn(token))
    return respond(place.num, 200)
  },
}
