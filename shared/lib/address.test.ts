import { expect, test } from 'vitest'
import { forwardedAddress } from './address.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  [' 192.0.2.1 ', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:DB8::0:1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['10.0.0.1, 192.0.2.1', '192.0.2.1'],
  ['for=192.0.2.1;proto=https', '192.0.2.1'],
  ['by=10.0.0.1;For="[2001:db8::1]:4711"', '2001:db8::1'],
  ['for=10.0.0.1, for="192.0.2.1:80";host=shop.example', '192.0.2.1'],
  ['', undefined],
  ['unknown', undefined],
  ['for=unknown', undefined],
  ['for=_hidden', undefined],
  ['192.0.2.1, ', undefined],
  ['192.0.2.1.', undefined],
  ['192.0.2.1:4711:1', undefined],
  ['"><script>', undefined],
])('the nearest proxy saw %j as %j', (header, address) => {
  expect(forwardedAddress(header)).toBe(address)
})
