import { expect, it } from 'vitest'
import { startOf, targetAt, withToken } from './target.ts'

const shop = { hosts: ['shop.example', 'shop.example:8443'] }

it('a target is at one of the shop’s hosts', () => {
  for (const [text, href] of [
    ['https://shop.example/lamp?colour=red%20#x', 'https://shop.example/lamp?colour=red%20#x'],
    ['https://SHOP.example', 'https://shop.example/'],
    ['https://shop.example:443/a', 'https://shop.example/a'],
    ['https://shop.example:8443/a', 'https://shop.example:8443/a'],
    ['https:\\\\shop.example\\a', 'https://shop.example/a'],
  ] as const)
    expect(targetAt(text, shop, false)).toBe(href)
})

it('no other address is a target', () => {
  for (const text of [
    ...['', '/lamp', '//shop.example/', 'shop.example', 'https://evil.example/', 'https://shop.example.evil.example/'],
    ...['https://evil.example/https://shop.example/', 'https://shop.example@evil.example/', 'https://a@shop.example/'],
    ...['https://:b@shop.example/', 'https://evil.example\\@shop.example/', 'https://shop.example:444/'],
    ...[
      'http://shop.example/',
      'javascript://shop.example/%0aalert(1)',
      'data:text/html,shop.example',
      'ftp://shop.example/',
    ],
    ...['https://sub.shop.example/', 'https://shop.example./', `https://shop.example/${'a'.repeat(2_000)}`],
    `https://shop.example/${'ü'.repeat(500)}`,
  ])
    expect(targetAt(text, shop, false), text).toBeNull()
  expect(targetAt('http://shop.example/', shop, true)).toBe('http://shop.example/')
})

it('the token replaces an earlier one, and the rest stays as it was', () => {
  const at = (text: string) => withToken(`https://shop.example/${text}`, 'new').slice(startOf(shop).length)
  expect(at('')).toBe('?queueittoken=new')
  expect(at('lamp?a=b%20c&d=e+f#g')).toBe('lamp?a=b%20c&d=e+f&queueittoken=new#g')
  expect(at('?queueittoken=old&a=1')).toBe('?a=1&queueittoken=new')
  expect(at('?a=1&QueueITToken=old&queueittoken')).toBe('?a=1&queueittoken=new')
  expect(at('?notqueueittoken=1')).toBe('?notqueueittoken=1&queueittoken=new')
})
