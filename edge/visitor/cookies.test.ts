/** No page script and no neighbouring host can read or set the cookies. */
import { expect, it } from 'vitest'
import type { Call } from '../http/call.ts'
import { readCookie, withoutOurs } from './cookies.ts'

const read = (cookie: string) => {
  const request = new Request('https://edge.test', { headers: { cookie } })
  return readCookie('visitor-secret', { request, secure: true } as Call)
}

it('reads no cookie inside the value of another one, which a neighbouring host may have set', () => {
  expect(read('x=y __Host-visitor-secret=planted; __Host-visitor-secret=own')).toBe('own')
  expect(read('x=y __Host-visitor-secret=planted')).toBeNull()
  for (const own of ['__Host-visitor-secret=own', 'x=y;__Host-visitor-secret=own', 'x=y;  __Host-visitor-secret=own;z'])
    expect(read(own)).toBe('own')
})

it('finds a cookie among ten thousand', () => {
  const crumbs = Array.from({ length: 10_000 }, (_, i) => `crumb-${i}=__Host-visitor-secret=x`)
  expect(read([...crumbs, '__Host-visitor-secret=own'].join('; '))).toBe('own')
})

it('passes the protected site all of its own cookies and none of ours, even with equal names', () => {
  const names = [
    'visitor-secret',
    'page-language',
    'shop-account',
    'sign-in',
    'joined',
    'queue-drop',
    'admission-drop',
    'return-drop',
    `order-${crypto.randomUUID()}`,
  ]
  const [ours, named] = [names.map((name) => `__Host-${name}=ours`), names.map((name) => `${name}=x`)]
  const shown = (pairs: string[], secure: boolean) => withoutOurs(pairs.join('; '), 'drop', secure).split('; ')
  expect(shown([...ours, '__Host-basket=1', ...named], true)).toEqual(['__Host-basket=1', ...named])
  const theirs = ['visitor_id1234=abc', 'order-by=price', 'return-url=x', 'queue-another=x']
  expect(shown([...named, ...theirs], false)).toEqual(theirs)
  // Empty pairs are removed too.
  expect(shown(['', named[0] ?? '', '', 'basket=1', ''], false)).toEqual(['basket=1'])
  expect(shown([' ', named[0] ?? ''], false)).toEqual([''])
})
