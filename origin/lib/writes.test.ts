import { expect, test } from 'vitest'
import { isAway } from '../app.ts'
import { isRefusedWrite, Writes } from './writes.ts'

const failed = (message: string, code?: string) => Object.assign(new Error(message), code && { code })
const REFUSED = [
  failed("OOM command not allowed when used memory > 'maxmemory'."),
  failed(
    "ERR Error running script (call to f_1): @user_script:7: -OOM command not allowed when used memory > 'maxmemory'.",
  ),
  failed('MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.'),
  failed("READONLY You can't write against a read only replica. script: f1, on @user_script:7."),
  failed('NOREPLICAS Not enough good replicas to write.'),
  failed('cannot execute UPDATE in a read-only transaction', '25006'),
  failed('could not extend file: No space left on device', '53100'),
]
const OTHERS = [failed('connect EMFILE', 'EMFILE'), failed('accept ENFILE', 'ENFILE'), failed('Command timed out')]

test('a full, read-only or unsaved store refuses writes, and counts as away as one without an answer does', () => {
  expect(REFUSED.filter((error) => !isRefusedWrite(error))).toEqual([])
  expect(OTHERS.filter(isRefusedWrite)).toEqual([])
  expect([...REFUSED, ...OTHERS].filter((error) => !isAway(error))).toEqual([])
})

test('a refusal counts until a write is accepted, and is no answer to a ping', async () => {
  const writes = new Writes()
  const ping = () => writes.require(async () => 'PONG')
  for (const error of OTHERS) writes.heard(error)
  expect(await ping()).toBe('PONG')
  for (const error of REFUSED) {
    writes.heard(error)
    await expect(ping()).rejects.toBe(error)
    await expect(writes.retry(() => Promise.reject(error))).rejects.toBe(error)
    expect(writes.refusal).toBe(error)
    await writes.retry(async () => {})
    expect(await ping()).toBe('PONG')
  }
})
