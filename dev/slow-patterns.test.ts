import { expect, it } from 'vitest'
import { slowPatternsIn } from './slow-patterns.ts'

it('names the patterns of a source text that can take long, and no other', () => {
  const text = [
    String.raw`const isNone = (typed: string) => /^\s*0*\s*$/.test(typed)`,
    String.raw`const AMBIGUOUS = /(?:\.|%2e)+(?:\/|$)/i`,
    String.raw`const isId = <T>(id: T) => /^(?<id>[a-z][\w-]{0,63})$/.test(String(id)) // no literal: /(a+)+$/`,
  ]
  expect(slowPatternsIn('a.ts', text.join('\n'))).toEqual([
    String.raw`a.ts:1 /^\s*0*\s*$/`,
    String.raw`a.ts:2 /(?:\.|%2e)+(?:\/|$)/i`,
  ])
})
