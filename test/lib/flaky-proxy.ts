/** A proxy that fails as networks do, for the tests of one file. */
import { afterAll, beforeAll } from 'vitest'
import { flakyProxy } from '../../bench/lib/flaky-proxy.ts'

/** Opens the proxy before the tests of a file, and closes it after them. */
export function useFlakyProxy(portOfServer: () => number) {
  const proxy = flakyProxy(portOfServer)
  beforeAll(proxy.listen)
  afterAll(proxy.close)
  return proxy
}
