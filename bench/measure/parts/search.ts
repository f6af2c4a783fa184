/**
 * Measures the search of orders over a full ledger, on its own Postgres: it fills the tables with generated orders,
 * types what support types, and reports the time of each kind of search. The aim is a time that a person on the
 * telephone does not notice.
 */
import unbounded from 'postgres'
import { startPostgres } from '../../../dev/servers/postgres.ts'
import { connect, type Sql } from '../../../origin/ledger/connection.ts'
import { prepare } from '../../../origin/ledger/migrate.ts'
import { findOrderIds, type Search } from '../../../origin/support/order-search.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { flat, nowMeasuring } from '../load.ts'
import { type Row, row, type Table } from '../rows.ts'
import type { Bench } from '../table.ts'

const SALES = 40
const PRODUCTS = 3
const LIMIT = 50
/** The number of searches of each kind, with other values each time. */
const ASKED = 100
/** The first searches are not counted, because they fill the connection's caches. */
const WARM_UP = 10
const AIM = { p99Ms: 100 }
const SETTINGS = [
  'shared_buffers=2GB',
  'maintenance_work_mem=1GB',
  'fsync=off',
  'wal_level=minimal',
  'max_wal_senders=0',
]

export async function* searches({ crowd: orders }: Bench): AsyncGenerator<Table> {
  const postgres = await startPostgres({ settings: SETTINGS })
  try {
    await prepare(postgres.url)
    nowMeasuring(`  filling a ledger with ${n(orders)} orders`)
    // A separate connection is used, because the origin's end a statement after ten seconds.
    const filling = unbounded(postgres.url, { max: 1, onnotice: () => {} })
    await fill(filling, orders)
    await filling.end()
    const sql = connect(postgres.url, 1)
    yield { title: `The search of ${n(orders)} orders`, against: '', rows: await searched(sql) }
    await sql.end({ timeout: 1 })
  } finally {
    await postgres.stop()
  }
}

const STATUSES = `(case when i % 1000 = 7 then 'refunded' when i % 20 < 15 then 'confirmed'
  when i % 20 < 17 then 'fulfilled'
  when i % 20 < 19 then 'expired' else 'cancelled' end)`
/** The ids have the origin's form, two in a millisecond. */
const ID = `(lpad(to_hex(1790000000000 + i / 2), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8'
  || substr(md5(i::text), 1, 15))::uuid`
/** Names of two to three syllables, some much more frequent than others. */
const syllable = (seed: string) =>
  `(array['an','ma','schmi','ber','lo','ka','ri','ne','to','mül','sa','vic','da','go','hen','fi','la','ro','ste','wei',
  'ju','ke','po','ti','ul','bra','cha','do','el','fra','gra','hu'])
  [1 + floor(32 * power((hashint8(i * 31 + ${seed}) & 65535) / 65536.0, 2))::int]`
const EMAIL = `${syllable('1')} || ${syllable('2')} || '.' || ${syllable('3')} || ${syllable('4')} || ${syllable('5')}
  || (i % 100) || '@' || (array['gmail.com','example.org','mail.de','outlook.com'])[1 + i % 4]`
const NOTE_WORDS = (
  'refund parcel damaged address wrong size call back invoice delivery carrier lost promised voucher exchange ' +
  'photograph complaint friendly bank statement'
).split(' ')
const WORD = (seed: string) => `('{${NOTE_WORDS}}'::text[])[1 + (hashint8(i * 7 + ${seed}) & 1023) % 20]`
const NOTE = Array.from({ length: 18 }, (_, n) => `${WORD(String(n))}`).join(` || ' ' || `)

async function fill(sql: Sql, orders: number): Promise<void> {
  for (let s = 0; s < SALES; s++) {
    await sql`insert into sales (sale_id, name, opens_at, hold_seconds, limit_per_visitor, rate_per_second,
      oversell_policy)
      values (${`sale-${s}`}, 'Sale', now(), 90, 1, 10, 'alarm')`
    for (let p = 0; p < PRODUCTS; p++)
      await sql`insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total)
        values (${`sale-${s}`}, ${`product-${p}`}, ${p}, ${`Runner ${s} in colour ${p}`}, 1000, 'EUR', 10000000)`
  }
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
    where tablename in ('order_search', 'order_texts', 'search_words') and indexname not like '%_pkey'`
  await sql.begin(async (tx) => {
    for (const { name } of indexes) await tx`drop index ${tx(name)}`
    await tx`truncate order_search, order_texts, search_words`
    // The words are counted all at once below.
    await tx`alter table order_texts disable trigger words_counted`
    await tx.unsafe(`insert into order_search
      select ${ID}, 'sale-' || i * ${SALES} / ${orders + 1}, 'product-' || i % ${PRODUCTS}, ${STATUSES}
      from generate_series(1, ${orders}::bigint) i`)
    await tx.unsafe(`insert into order_texts
      select ${ID}, concat_ws(' ', '', 'sale-' || i * ${SALES} / ${orders + 1}, i % 500000,
        case when i % 2 = 0 then 'user:account' || (i / 3) || ' account' || (i / 3)
          else md5((i / 2)::text)::uuid::text end,
        case when i % 20 < 17 then 'ch_' || substr(md5(i || 'c'), 1, 24) end, ${EMAIL},
        '10x' || i % 250 || 'x' || (i / 250) % 250 || 'x' || i % 7, case when i % 50 = 3 then ${NOTE} end, '')
      from generate_series(1, ${orders}::bigint) i`)
    await tx`insert into search_words
      select word, count(*) from (
        select word from (select split_part(split_part(words, '@', 1), ' ', -1) as mail from order_texts) m,
          unnest(array[mail, split_part(mail, '.', 1), rtrim(split_part(mail, '.', 2), '0123456789')]) as word
        union all select word from unnest(${NOTE_WORDS}::text[]) as word, generate_series(1, ${Math.ceil(orders / 100)})
      ) w where length(word) >= 4 group by word`
    await tx`alter table order_texts enable trigger words_counted`
  })
  for (const { definition } of indexes) await sql.unsafe(definition)
  await sql`vacuum analyze order_search`
  await sql`vacuum analyze order_texts`
  await sql`vacuum analyze search_words`
}

interface Sample {
  readonly order_id: string
  readonly visitor: string
  readonly ticket_number: string
  readonly charge_id: string
  readonly email: string
  readonly address: string
}

/** The text that support types for an existing order. */
const TYPED: Record<string, (one: Sample, n: number) => Partial<Search>> = {
  number: (one) => ({ text: one.order_id }),
  'beginning of a number': (one) => ({ text: one.order_id.slice(0, 8) }),
  'visitor or account': (one) => ({ text: one.visitor.replace('user:', '') }),
  'beginning of an account': (_, n) => ({ text: `account${n}` }),
  'ticket number': (one) => ({ text: one.ticket_number }),
  charge: (one) => ({ text: one.charge_id }),
  mail: (one) => ({ text: one.email }),
  'beginning of a mail, 3 letters': (one) => ({ text: one.email.slice(0, 3) }),
  'beginning of a mail, 6 letters': (one) => ({ text: one.email.slice(0, 6) }),
  'part of a mail, 5 letters': (one) => ({ text: one.email.slice(3, 8) }),
  'mail with a letter missing': (one) => ({ text: one.email.slice(0, 5) + one.email.slice(6) }),
  'mail with letters swapped': (one) => ({ text: swap(one.email, 5) }),
  address: (one) => ({ text: one.address }),
  product: (_, n) => ({ text: `runner ${n % SALES}` }),
  'word of a note': (_, n) => ({ text: NOTED[n % NOTED.length] ?? '' }),
  'words of a note': () => ({ text: 'photograph of the damaged parcel' }),
  'words of a note, all known': () => ({ text: 'photograph damaged parcel' }),
  'beginnings of words of a note': () => ({ text: 'dam parc' }),
  'word of a note, misspelt': (_, n) => ({ text: swap(NOTED[n % NOTED.length] ?? '', 3) }),
  'nothing like it': (_, n) => ({ text: `xqzwvk${n}` }),
  'filters: sale': (_, n) => ({ sale: `sale-${n % SALES}` }),
  'filters: sale and status': (_, n) => ({ sale: `sale-${n % SALES}`, statuses: ['refunded'] }),
  'filters: status': () => ({ statuses: ['refunded', 'returned'] }),
  'mail and status': (one) => ({ text: one.email.slice(0, 4), statuses: ['refunded'] }),
}
const NOTED = ['refund', 'parcel', 'damaged', 'carrier', 'photograph']
const swap = (text: string, at: number) =>
  text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2)

async function searched(sql: Sql): Promise<Row[]> {
  const texts = await sql<{ order_id: string; words: string }[]>`
    select order_id, words from order_texts where words like '% ch\_%'
    order by md5(order_id::text) limit ${ASKED + WARM_UP}`
  const samples = texts.map(({ order_id, words }): Sample => {
    const [, , ticket_number = '', visitor = '', ...others] = words.split(' ')
    const [charge_id = '', email = '', address = ''] = visitor.startsWith('user:') ? others.slice(1) : others
    return { order_id, visitor, ticket_number, charge_id, email, address: address.replaceAll('x', '.') }
  })
  if (samples.length < ASKED + WARM_UP) throw new Error('There are too few orders to search for.')
  const rows: Row[] = []
  for (const [kind, typed] of Object.entries(TYPED)) {
    nowMeasuring(`  ${kind}`)
    const histogram = new Histogram()
    for (const [i, sample] of samples.entries()) {
      const beganMs = performance.now()
      await findOrderIds(sql, { text: '', limit: LIMIT, ...typed(sample, i) })
      if (i >= WARM_UP) histogram.add(performance.now() - beganMs)
    }
    const ms = histogram.summary()
    rows.push(row(kind, { ...flat(1000 / ms.p50), ms }, null, AIM))
  }
  return rows
}
