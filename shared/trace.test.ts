import { expect, test } from 'vitest'
import { childOf, exportOf, KIND, newTrace, readTraceparent, traceparentOf } from './trace.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, true],
  [`cc-${TRACE}-${SPAN}-01-what the future will be like`, true],
  [`00-${TRACE}-${SPAN}-01-more`, false],
  [`ff-${TRACE}-${SPAN}-01`, false],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, false],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, false],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, false],
  [`00-${TRACE}-${SPAN}`, false],
  [`cc-${TRACE}-${SPAN}-01.what`, false],
  ['', false],
  [null, false],
])('reads %s: %s', (text, isRead) => {
  expect(readTraceparent(text)).toEqual(isRead ? { traceId: TRACE, spanId: SPAN } : null)
})

test('what it writes it reads, and a child has its trace', () => {
  const random = (count: number) => new Uint8Array(count).fill(10)
  const trace = newTrace(random)
  expect(traceparentOf(trace)).toBe(`00-${'0a'.repeat(16)}-${'0a'.repeat(8)}-01`)
  expect(readTraceparent(traceparentOf(trace))).toEqual(trace)
  expect(childOf(trace, (count) => new Uint8Array(count).fill(11))).toEqual({ ...trace, spanId: '0b'.repeat(8) })
})

test('times are whole nanoseconds as text, and a span never ends before it starts', () => {
  const times = { startMs: 1_700_000_000_000.123, endMs: 1_600_000_000_000 }
  const span = {
    traceId: TRACE,
    spanId: SPAN,
    name: 'POST',
    kind: KIND.server,
    ...times,
    attributes: {},
    isError: true,
  }
  const moment = '1700000000000123000'
  const { name, kind, traceId, spanId } = span
  const sent = { traceId, spanId, name, kind, startTimeUnixNano: moment, endTimeUnixNano: moment, attributes: [] }
  expect(exportOf('edge', [span])).toMatchObject({
    resourceSpans: [{ scopeSpans: [{ spans: [{ ...sent, status: { code: 2 } }] }] }],
  })
})
