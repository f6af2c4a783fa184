import { describe, expect, it } from 'vitest'
import { parse } from '../../parse.ts'
import { ProblemError } from '../../problem.ts'
import { DEFAULT_MAILS } from '../mails.ts'
import { SaleConfig } from './sale-config.ts'

const sale = {
  name: 'Trainers "Ünï" 👟',
  opens_at: '2026-11-27T12:00:00+01:00',
  products: [{ product_id: 'red', name: 'Red', unit_price_minor: 9900, currency: 'EUR', total: 100 }],
  admission: { rate_per_second: 200 },
}
const [product] = sale.products

function errorsOf(value: unknown) {
  try {
    parse(SaleConfig, value)
    return []
  } catch (error) {
    if (error instanceof ProblemError) return error.problem.errors ?? []
    throw error
  }
}
const wrongFields = (changes: object) => errorsOf({ ...sale, ...changes }).map((e) => e.field)

describe('a sale', () => {
  it('gets the defaults of the contract, and its times in UTC', () => {
    expect(parse(SaleConfig, sale)).toEqual({
      ...sale,
      mails: [...DEFAULT_MAILS],
      admission: { rate_per_second: 200, max_inside: null },
      opens_at: '2026-11-27T11:00:00.000Z',
      ends_at: null,
      pre_queue_opens_at: null,
      hold_seconds: 90,
      limit_per_visitor: 1,
      oversell_policy: 'alarm',
      access: { sign_in: 'optional', invitation: 'off', proof_of_work: null, turnstile: false },
      lines: [{ line: 'public', weight: 1, opens_early_seconds: 0, access: null }],
      expected_visitors: null,
      max_unpaid_orders: 3,
      contact: { email: 'off', address: false, retention_days: 30 },
      seller: null,
      tax: null,
      brand: null,
      fees: [],
      delivery: { kind: 'none', ask: { name: 'off', phone: 'off', company: 'off', note: 'off' } },
      venue: null,
      names: null,
      time_zone: 'UTC',
      event: null,
      indexed: true,
      payment: 'provider',
      test: false,
      products: sale.products.map((product) => ({ ...product, buffer: 0 })),
    })
  })

  it('knows an option and its values by more than case or form', () => {
    const withOptions = (...options: object[]) => wrongFields({ products: [{ ...product, options }] })
    expect(withOptions({ name: 'Size', values: ['S', 'M'] }, { name: 'Colour', values: ['red'] })).toEqual([])
    expect(withOptions({ name: 'Size', values: ['s', 'Ｓ'] })).toEqual(['products.0.options.0.values'])
    expect(withOptions({ name: 'Größe', values: ['S'] }, { name: 'gro\u0308ße', values: ['S'] })).toEqual([
      'products.0.options',
    ])
  })

  it('accepts every optional field', () => {
    const full = {
      ends_at: null,
      pre_queue_opens_at: '2026-11-27T10:00:00Z',
      hold_seconds: 90,
      limit_per_visitor: 1,
      admission: { rate_per_second: 200, max_inside: 500 },
      oversell_policy: 'alarm',
      access: { sign_in: 'required', invitation: 'required', proof_of_work: 'auto', turnstile: true },
      lines: [{ line: 'members', weight: 2.5, opens_early_seconds: 900, access: { proof_of_work: 50_000 } }],
      expected_visitors: 500_000,
      max_unpaid_orders: 1,
      seller: { name: 'Halfway Ltd', address: 'Harbour Street 4\n10115 Berlin', tax_id: 'DE123456789' },
      tax: { name: 'VAT', percent: 8.875 },
    }
    expect(wrongFields(full)).toEqual([])
  })

  it.each<[object, string[]]>([
    [{ name: '  ' }, ['name']],
    [{ opens_at: 'noon', hold_seconds: 0.5 }, ['opens_at', 'hold_seconds']],
    [{ ends_at: '2026-11-27T10:00:00Z' }, ['ends_at']],
    [{ products: [{ ...product, total: -1 }] }, ['products.0.total']],
    [{ products: [product, product] }, ['products']],
    [{ admission: { rate_per_second: 0 } }, ['admission.rate_per_second']],
    [{ admission: 5 }, ['admission']],
    [{ seller: { address: 'Berlin\0' } }, ['seller.name', 'seller.address']],
    [{ tax: { name: 'VAT', percent: 8.8755 } }, ['tax.percent']],
    [{ tax: { name: 'VAT', percent: 101 } }, ['tax.percent']],
    [
      { access: { sign_in: 'yes' }, lines: [{ line: 'a' }, { line: 'a' }], max_unpaid_orders: 0 },
      ['access.sign_in', 'lines', 'max_unpaid_orders'],
    ],
    [{ event: { starts_at: sale.opens_at, ends_at: sale.opens_at } }, ['event.ends_at']],
    // Unknown fields are found at any depth.
    [{ hold_secondz: 5 }, ['hold_secondz']],
    [{ products: [{ ...product, price: 5 }] }, ['products.0.price']],
    [{ admission: { rate_per_second: 5, max: 5 } }, ['admission.max']],
  ])('with %j is refused by the names of its wrong fields', (changes, fields) => {
    expect(wrongFields(changes)).toEqual(fields)
  })

  it.each([
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2101-01-01T00:00:00Z',
    '2030-02-30T00:00:00Z',
    '2030-02-31T12:00+05:00',
    '2030-13-01T00:00:00Z',
  ])('is refused when a time is %s, which is no time or cannot be stored', (time) => {
    const times = { opens_at: time, ends_at: time, pre_queue_opens_at: time }
    expect(wrongFields(times)).toEqual(Object.keys(times))
  })

  it.each(['1970-01-01T00:00:00Z', '2032-02-29T00:00:00+14:00', '2030-06-30T24:00Z'])('may open at %s', (opens_at) =>
    expect(wrongFields({ opens_at })).toEqual([]),
  )

  it('names the oversell policies when another one is sent', () => {
    expect(errorsOf({ ...sale, oversell_policy: 'pray' })).toEqual([
      { field: 'oversell_policy', detail: 'one of alarm, cancel_latest, fulfil_from_buffer is required' },
    ])
  })
})
