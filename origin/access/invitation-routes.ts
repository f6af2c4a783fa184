/**
 * The operators' calls for invitations: import any number of codes as a stream, count them, and make signed links. It
 * also has the edge's call to redeem one.
 */
import { Readable } from 'node:stream'
import { type Context, Hono } from 'hono'
import { InvitationLinks, InvitationRow, RedeemRequest } from '../../shared/api/access.ts'
import { tryParse } from '../../shared/parse.ts'
import { invalidField, problem, problemIn } from '../../shared/problem.ts'
import { audit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { csvRows, decoded } from '../lib/http/csv-upload.ts'
import { chunksOf, jsonBody, readBody, refuse, sendProblem } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { OperatedSales, Sales } from '../sales/sales.ts'
import { countInvitations, type Invitation, importInvitations, voidLinks } from './access-queries.ts'
import type { Invitations } from './invitations.ts'

/** The longest line of an import, in characters. */
const MAX_LINE = 1_000

interface InvitationDeps {
  readonly sql: Sql
  readonly invitations: Pick<Invitations, 'sign' | 'hashesOf'>
  readonly sales: Pick<OperatedSales, 'find' | 'nowMs' | 'publish'>
}

interface RedeemDeps {
  readonly sales: Pick<Sales, 'find' | 'nowMs'>
  readonly invitations: Pick<Invitations, 'redeem'>
}

/** The route is mounted below `/internal`. */
export const redeemRoutes = ({ sales, invitations }: RedeemDeps): Hono =>
  new Hono().post('/sales/:sale/redeem', async (c) => {
    const sale = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
    const { visitor, invitation } = await readBody(c, RedeemRequest)
    return c.json({ result: await invitations.redeem(sale, visitor, invitation, sales.nowMs()) })
  })

export function invitationRoutes({ sql, invitations, sales }: InvitationDeps) {
  return (
    new Hono()
      .get('/sales/:sale/invitations', async (c) => c.json(await countInvitations(sql, c.req.param('sale'))))

      .put('/sales/:sale/invitations', async (c) => {
        const saleId = c.req.param('sale')
        // `requireSale` lets a PUT through, since it may create the sale.
        await sales.find(saleId)
        try {
          const imported = await importInvitations(sql, saleId, rowsOf(c), {
            replace: c.req.query('replace') === 'true',
            operator: operatorOf(c),
            hashesOf: (code) => invitations.hashesOf(saleId, code),
          })
          return c.json({ imported, ...(await countInvitations(sql, saleId)) })
        } catch (error) {
          const response = sendProblem(problemIn(error))
          // The rest of the body is not read, so the connection cannot be used again.
          response.headers.set('connection', 'close')
          return response
        }
      })

      /** The links are sent as NDJSON and made while they are sent, so that any number needs no memory. */
      .post('/sales/:sale/invitations/links', jsonBody(InvitationLinks), async (c) => {
        const saleId = c.req.param('sale')
        const asked = c.req.valid('json')
        if ('void_before' in asked) {
          const void_before = await voidLinks(sql, saleId, new Date(asked.void_before), operatorOf(c))
          await sales.publish(saleId)
          return c.json({ void_before: void_before.toISOString() })
        }
        const { count, uses, valid_for_seconds } = asked
        const after = { count, uses, valid_for_seconds }
        await audit(sql, [{ actor: operatorOf(c), action: 'invitations signed', sale: saleId, after }])
        // The links must be newer than void links, even if another process has a clock some milliseconds ahead.
        const { links_void_before } = await sales.find(saleId)
        const signedAtMs = Math.max(Math.round(sales.nowMs()), links_void_before?.getTime() ?? 0)
        const times = { iat: signedAtMs / 1000, valid_for_seconds }
        const lines = Readable.from(signedLines(count, () => invitations.sign(saleId, uses, times)))
        return c.body(Readable.toWeb(lines) as ReadableStream, 200, {
          'content-type': 'application/x-ndjson; charset=utf-8',
          'cache-control': 'no-store',
        })
      })
  )
}

/** This many lines are sent at once. */
const LINES = 1_000

function* signedLines(count: number, sign: () => string) {
  for (let from = 0; from < count; from += LINES)
    yield Array.from(
      { length: Math.min(LINES, count - from) },
      () => `${JSON.stringify({ invitation: sign() })}\n`,
    ).join('')
}

/** Reads a body of any length row by row. Throws `invalid-fields`, naming the line, if a row is wrong. */
async function* rowsOf(c: Context): AsyncGenerator<Invitation> {
  const type = c.req.header('content-type') ?? ''
  const chunks = chunksOf(c)
  if (/^text\/csv\b/i.test(type)) {
    for await (const { line, fields } of csvRows(chunks, CSV, ({ field, detail }) =>
      refuse(invalidField(field, detail)),
    ))
      yield invitationIn({ code: fields.code, uses: Number(fields.uses ?? 1) }, line)
  } else if (/^application\/(x-)?ndjson\b/i.test(type)) {
    for await (const { line, value } of ndjsonRows(chunks)) yield invitationIn(value, line)
  } else refuse(problem('unsupported-media-type', { detail: 'Send text/csv or application/x-ndjson.' }))
}

const CSV = { columns: ['code', 'uses'], required: ['code'], headerIsOptional: true, maxRow: MAX_LINE } as const

function invitationIn(value: unknown, line: number): Invitation {
  const row = tryParse(InvitationRow, value)
  if (row) return row
  return refuse(
    invalidField(
      `line ${line}`,
      'a code of 4 to 100 characters without spaces, and uses from 1 to 1000000, are required',
    ),
  )
}

async function* ndjsonRows(chunks: AsyncIterable<Uint8Array>) {
  let unfinished = ''
  let number = 0
  for await (const text of decoded(chunks)) {
    const lines = (unfinished + text).split('\n')
    unfinished = lines.pop() ?? ''
    if (unfinished.length > MAX_LINE)
      refuse(problem('invalid-request', { detail: `A line is longer than ${MAX_LINE} characters.` }))
    for (const line of lines) {
      number++
      if (line.trim() !== '') yield { line: number, value: jsonOf(line) }
    }
  }
  if (unfinished.trim() !== '') yield { line: number + 1, value: jsonOf(unfinished) }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
