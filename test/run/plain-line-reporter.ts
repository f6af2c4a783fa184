/**
 * Prints the result of the whole run as the very last line, for people who scroll and for programs:
 *
 *     123 passed, 0 failed
 *     120 passed, 2 failed, 1 skipped
 *
 * A file that cannot be loaded, a hook that throws, an uncaught error, and a test that never ran count as failed, so
 * a run is successful only if everything ran.
 */
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, TestSuite } from 'vitest/node'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

export default class PlainLineReporter implements Reporter {
  private counts: Counts = { passed: 0, failed: 0, skipped: 0 }

  onInit(): void {
    // The line is printed at exit, because vitest's own summary and the teardown of the servers come before it.
    process.once('exit', (code) => {
      process.stdout.write(`${line(this.counts, code)}\n`)
    })
  }

  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandled: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason,
  ): void {
    this.counts = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) {
      this.counts.failed += faults(module)
      for (const suite of module.children.allSuites()) this.counts.failed += faults(suite)
      for (const test of module.children.allTests()) this.count(test, reason)
    }
  }

  private count(test: TestCase, reason: TestRunEndReason): void {
    const { state } = test.result()
    if (state !== 'pending') this.counts[state] += 1
    else this.counts[reason === 'interrupted' ? 'skipped' : 'failed'] += 1
  }
}

/** The number of errors outside tests: while the file was loaded, or in a hook. */
function faults(of: TestModule | TestSuite): number {
  const errors = of.errors().length
  if (errors > 0 || of.state() !== 'failed') return errors
  // A suite that failed without its own error failed because of a test within it, which is counted there, or has an
  // unknown error.
  for (const test of of.children.allTests()) if (test.result().state === 'failed') return 0
  for (const suite of of.children.allSuites()) if (suite.errors().length > 0) return 0
  return 1
}

function line(counts: Counts, exitCode: number): string {
  const failed = exitCode === 0 ? counts.failed : Math.max(counts.failed, 1)
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  return `${counts.passed} passed, ${failed} failed${skipped}`
}
