import { expect, test } from 'vitest'
import { type Ending, endingOf, type InGate, type InLedger } from './ending.ts'

test('an attempt is refused for good only if nobody can read its intent, or the ledger has noted it', () => {
  const all: Record<InLedger, Record<InGate, Ending>> = {
    nothing: {
      none: 'final',
      'given back': 'final',
      promised: 'processing',
      taken: 'doubt',
      gone: 'doubt',
      unknown: 'doubt',
    },
    'perhaps an order': {
      none: 'doubt',
      'given back': 'doubt',
      promised: 'processing',
      taken: 'doubt',
      gone: 'doubt',
      unknown: 'doubt',
    },
    refused: {
      none: 'final',
      'given back': 'final',
      promised: 'processing',
      taken: 'note',
      gone: 'note',
      unknown: 'note',
    },
    noted: { none: 'final', 'given back': 'final', promised: 'final', taken: 'final', gone: 'final', unknown: 'final' },
  }
  for (const [ledger, endings] of Object.entries(all))
    for (const [gate, ending] of Object.entries(endings))
      expect(endingOf(gate as InGate, ledger as InLedger), `${gate}, ${ledger}`).toBe(ending)
})
