import { machine } from './runtime.ts'

/** The wait has ended; the work itself may still finish. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Settles as the promise does. After `ms` it resolves to the result of `onTimeout`, or goes on waiting if that is
 * undefined; by default it rejects with TimeoutError.
 */
export function withTimeout<T>(
  promise: Promise<T>,
  ms: number,
  runtime = machine,
  onTimeout?: () => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = runtime.after(ms, () => {
      if (!onTimeout) return reject(new TimeoutError(`no result within ${ms} ms`))
      const result = onTimeout()
      if (result !== undefined) resolve(result)
    })
    promise.then(
      (value) => {
        cancel()
        resolve(value)
      },
      (error) => {
        cancel()
        reject(error)
      },
    )
  })
}
