import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import type { Received, Send } from '../support/transport.ts'

/** One request of a test and its response, with the facts of the request log that decide what the document says about it. */
export interface Exchange {
  /** File and name of the test. */
  readonly test: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The settings in force at the time of the request. */
  readonly settings: { readonly overrides: Readonly<Record<string, unknown>>; readonly strict: boolean }
  /** The name of the operation; null if no operation has the path and the method, or the request was refused before. */
  readonly operation: string | null
  /** Whether a stub of the test was the response. */
  readonly isStub: boolean
  /** Ids of the fault rules that fired on it. */
  readonly faults: readonly string[]
}

/** Appends every exchange with the emulated API to a file of this process in the folder. */
export function recorded(send: Send, emulator: RunningEmulator, folder: string): Send {
  return async (path, sent) => {
    const received = await send(path, sent)
    const [place = ''] = path.split(/[?#]/)
    if (/^(?:\/tools\/emulator)?(?:\/@[^/]*)?\/v1\//.test(place)) {
      const exchange = exchangeOf(emulator, { method: sent.method, path: place }, received)
      appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(exchange)}\n`)
    }
    return received
  }
}

function exchangeOf(
  { sandboxes, sandbox }: RunningEmulator,
  { method, path }: Pick<Exchange, 'method' | 'path'>,
  { status, headers, text }: Received,
): Exchange {
  const id = headers.get('x-emulator-request-id') ?? ''
  const entry = sandboxes.list().flatMap((each) => each.sandbox.log?.find(id) ?? [])[0]
  const { overrides, strict } = entry?.settings ?? sandbox.settings
  const { testPath = '', currentTestName = '' } = expect.getState()
  return {
    test: `${testPath.slice(process.cwd().length + 1)}: ${currentTestName}`,
    ...{ method, path, status, text },
    headers: Object.fromEntries(headers),
    settings: { overrides, strict },
    operation: entry?.operation ?? null,
    isStub: entry?.added !== undefined,
    faults: entry?.faults?.fired.map(({ rule }) => rule.id) ?? [],
  }
}
