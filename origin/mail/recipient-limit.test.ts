import { expect, test } from 'vitest'
import { withinLimit } from './recipient-limit.ts'

test('an address gets so many messages that nobody confirmed, and all that its owner has paid for', () => {
  const [theirs, other] = ['ada@example.com', 'bo@example.com']
  const to = (email: string | null, hasPaid = false) => ({ email, hasPaid })
  const messages = [to(theirs), to(other), to(theirs), to(theirs, true), to(null), to(other), to(theirs)]
  const taken = (sent: ReadonlyMap<string, number>) =>
    withinLimit(messages, sent, 2).map((message) => messages.indexOf(message))
  expect(taken(new Map())).toEqual([0, 1, 2, 3, 4, 5])
  expect(taken(new Map([[theirs, 1]]))).toEqual([0, 1, 3, 4, 5])
  expect(taken(new Map([[theirs, 9]]))).toEqual([1, 3, 4, 5])
})
