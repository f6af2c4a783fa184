import { expect, it } from 'vitest'
import { isHeld, looselyRead, pathTest } from './paths.ts'

const PROTECTED = pathTest('/checkout/* /*/basket/*/pay,/exact', looselyRead)
const OPEN = pathTest('*.css */open/*')

it.each([
  ['/checkout/', true],
  ['/CHECKOUT/1', true],
  ['/checkout%2f1', true],
  ['/%EF%BD%83heckout/1', true],
  ['/ch%C3%A9ckout/1', true],
  ['/check%E2%80%8Bout/1', true],
  ['/checkout', false],
  ['/en/basket/7/pay', true],
  ['/en/basket/pay', false],
  ['/exact', true],
  ['/exactly', false],
  ['/checkout/site.css', false],
  ['/checkout/site.CSS', true],
  ['/checkout/open/1', false],
  ['/about', false],
  ['/about./x', true],
  ['/about;x', true],
  ['/about%E0%A4', true],
])('holds %s: %s', (path, held) => {
  expect(isHeld(path, PROTECTED, OPEN)).toBe(held)
})

it('holds nothing where no path is given', () => {
  expect(isHeld('/', pathTest(''), pathTest(''))).toBe(false)
})

it('judges a path of a million dots, or of as many stars', () => {
  const stars = pathTest('/*/*/*/*/*/*/*/*/x')
  expect([isHeld(`/${'.'.repeat(1e6)}x`, PROTECTED, OPEN), stars('/'.repeat(1e6))]).toEqual([false, false])
})
