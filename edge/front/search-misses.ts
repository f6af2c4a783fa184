/**
 * Tells the origin what visitors searched for and did not find. An isolate gathers it for some seconds and sends it at
 * once. Who searched goes along as a pseudonym of one day, because the origin keeps only what several callers searched.
 */
import { MAX_MISS, MAX_MISSES, type SearchMisses } from '../../shared/api/front.ts'
import { mayNamePerson } from '../../shared/api/views/source.ts'
import { hmacHex } from '../../shared/lib/hash.ts'
import { sameSearch } from '../../shared/search/words.ts'
import { addressOf, type Call } from '../http/call.ts'
import { networksOf } from '../http/limits/networks.ts'
import { tellOrigin } from '../http/origin.ts'

const SEND_AFTER_MS = 5_000
/** The hexadecimal digits of a caller's pseudonym. */
const CALLER_LENGTH = 16

type Miss = SearchMisses['misses'][number]
let gathered = new Map<string, Miss & { count: number }>()
let isSending = false

/** Notes a search without a hit. Texts that could name a person are left out, and those beyond the bound. */
export function noteMiss(q: string, call: Call): void {
  const query = sameSearch(q)
  if (query === '' || query.length > MAX_MISS || mayNamePerson(query)) return
  const caller = pseudonymOf(call)
  const key = `${caller} ${query}`
  const known = gathered.get(key)
  if (known) known.count++
  else if (gathered.size < MAX_MISSES) gathered.set(key, { query, caller, count: 1 })
  if (isSending) return
  isSending = true
  call.ctx.waitUntil(send(call))
}

async function send(call: Call): Promise<void> {
  await scheduler.wait(SEND_AFTER_MS)
  const misses = [...gathered.values()]
  gathered = new Map()
  isSending = false
  // No retry: a loss only leaves some searches uncounted.
  await tellOrigin('POST', '/search/misses', { misses }, call).catch(() => {})
}

/** The caller's network, as nobody can tell it from the pseudonym. It is another one each day. */
function pseudonymOf(call: Call): string {
  const [network = ''] = networksOf(addressOf(call) ?? '')
  const day = new Date(call.nowMs).toISOString().slice(0, 10)
  return hmacHex(call.config.EDGE_TOKEN, `searches ${day} ${network}`).slice(0, CALLER_LENGTH)
}
