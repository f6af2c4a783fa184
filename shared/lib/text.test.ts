import { expect, test } from 'vitest'
import { sameName, storedText, textFault } from './text.ts'

test.each(['Zoë Müller', '\u0645\u0631\u062d\u0628\u0627', '東京', 'นี้', 'ཧཱུྃ', 'a\u200db', '👩‍👩‍👧', '5', '!', ''])(
  '%j may be written',
  (text) => expect(textFault(text)).toBeUndefined(),
)

test.each([
  ['\u200b', 'must show something'],
  ['\u00ad\u00ad', 'must show something'],
  ['\u3164', 'must show something'],
  ['\u2800 \u115f', 'must show something'],
  ['\u0301', 'must show something'],
  ['Ada\u202eadA', 'no characters that change the direction of writing'],
  ['\u200fAda', 'no characters that change the direction of writing'],
  ['\u2066Ada', 'no characters that change the direction of writing'],
  [`a${'\u0301'.repeat(200)}`, 'too many marks on one letter'],
  ['a\0', 'no control characters'],
  ['a\nb', 'no control characters'],
  ['a\ud800', 'must be well-formed Unicode'],
])('%j may not: %s', (text, fault) => {
  expect(textFault(text)).toBe(fault)
})

test('longer texts have lines', () => {
  for (const text of ['a\r\n\tb', '\u200fשלום']) expect(textFault(text, { hasLines: true })).toBeUndefined()
  expect(textFault('\u202eAda', { hasLines: true })).toBeDefined()
  expect(textFault('a\0', { hasLines: true })).toBe('no control characters')
})

test('what looks the same is the same', () => {
  expect(storedText(' Gro\u0308ße ')).toBe('Größe')
  expect(sameName('ｓｉｚｅ')).toBe(sameName('Size'))
  expect(sameName('ﾎﾟｽﾀｰ')).toBe(sameName('ポスター'))
})
