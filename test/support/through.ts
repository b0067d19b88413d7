import { afterAll, beforeAll, describe } from 'vitest'
import { type TransportName, useTransport } from './transport.ts'

/**
 * Runs test files again, with their requests sent in another way.
 * @param files their loaders; with a query, a file is a separate module that declares its tests again
 */
export function through(
  transport: TransportName,
  files: Readonly<Record<string, () => Promise<unknown>>>,
): void {
  let restore = (): void => {}
  beforeAll(() => {
    restore = useTransport(transport)
  })
  afterAll(() => restore())
  for (const [file, load] of Object.entries(files)) {
    describe(file, async () => {
      await load()
    })
  }
}
