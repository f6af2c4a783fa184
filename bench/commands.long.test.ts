/** Each command as a user runs it: its help, a place where no report can be written, and ways in which it ends. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { sampleSchedule } from '../shared/testing/sample-schedule.ts'
import { AS_A_USER, runCommand, useSystemStub } from '../test/lib/command.ts'

const { asked, folder, rehearsal } = useSystemStub(sampleSchedule({ pre_queue_size: 10 }))
const REHEARSE = 'bench/rehearsal/rehearse.ts'
const BENCH = 'bench/measure/bench.ts'

test.each([REHEARSE, BENCH, 'bench/model/model.ts', 'dev/verify-draw.ts', 'dev/start.ts'])(
  '%s prints its options with -h',
  async (file) => {
    const { status, out, err } = await runCommand(file, ['-h'])
    expect([status, err, out]).toEqual([0, '', expect.stringContaining('--help')])
  },
)

test.each([REHEARSE, BENCH])('%s first checks that its report can be written', async (file) => {
  const noFolder = join(folder, 'a-file')
  writeFileSync(noFolder, '')
  const { status, err } = await runCommand(file, ['--out', join(noFolder, 'reports')])
  expect([status, err]).toEqual([2, expect.stringMatching(/Nothing can be written to .* \(ENOTDIR\)\.\n$/)])
})

test('a rehearsal ends without a stack when nobody reads its output', async () => {
  const { status, err } = await runCommand(REHEARSE, rehearsal(), (child) => {
    child.stdout?.once('data', () => child.stdout?.destroy())
  })
  expect([status, err]).toEqual([2, ''])
})

test('a rehearsal ends itself and its sale when the npm that started it is killed', async () => {
  // The shell takes the part of npm: its child keeps the pipe open.
  const npm = execa('sh', ['-c', '"$@" & wait', 'sh', process.execPath, REHEARSE, ...rehearsal()], {
    ...AS_A_USER,
    env: { ...AS_A_USER.env, npm_lifecycle_event: 'rehearse' },
  })
  npm.stdout.on('data', (chunk: Buffer) => {
    if (chunk.includes('sale rehearsal-')) npm.kill('SIGKILL')
  })
  await npm
  expect(asked.at(-1)).toMatch(/^POST \/admin\/sales\/rehearsal-\w+\/end$/)
})
