/** Events of views for tests. */
import { randomUUID } from 'node:crypto'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'

const hex = (length: number) => randomUUID().replaceAll('-', '').slice(0, length)

/** A view that a phone begins now; each call makes another visitor. */
export const viewOf = (changes: Partial<ViewEvent> = {}): ViewEvent => ({
  view: hex(22),
  page: 'sale',
  sale: null,
  seen_seconds: 0,
  at_ms: Date.now(),
  pseudonym: hex(16),
  address: hex(16),
  network: '203.0.113.0/24',
  asn: null,
  country: null,
  device: 'phone',
  language: null,
  source: 'typed',
  ...changes,
})
