import { setTimeout as later } from 'node:timers/promises'
import type { SandboxClient } from 'agent-workspace-emulator'
import type { GalleryCase } from './cases.ts'
import { callsOf, type Input, type Run, type Service } from './client.ts'
import { VirtualTime } from './virtual-time.ts'

/** The instant at which the clock of every sandbox of the gallery stands. */
export const START = '2026-03-01T09:00:00.000Z'

/** Real milliseconds after which a client gives up an attempt: enough for a busy machine to respond. */
const TIMEOUT = 4_000

/** What one client got: a value, an error, or nothing until the end of the run. */
export type Result = { readonly value: unknown } | { readonly error: Error } | 'pending'

/** The names of items have characters of several bytes, which a piece of a stream can split. */
const ITEMS = ['Fußboden', 'Dach', 'Türen']

export function aGalleryBatch(): Input['batch'] {
  return {
    prompt: 'Read the total.',
    output_schema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    model: 'any-model',
    items: ITEMS.map((custom_id, n) => ({ file_id: `file-invoice-${n + 1}`, custom_id })),
  }
}

/**
 * Runs the clients of a case, with the bug or repaired, in a sandbox whose clock stands still at {@link START}. The requests that prepare the situation
 * are not in its log.
 * @returns the result of each client
 */
export async function runCase(
  sandbox: SandboxClient,
  each: GalleryCase,
  run: Run,
  mayHang = each.hangs === true,
): Promise<Result[]> {
  for (const fault of each.faults.filter(isAboutCreation)) await sandbox.faults.arm(fault)
  const id = await batchFor(sandbox, each)
  await sandbox.requests.clear()
  for (const fault of each.faults.filter((each) => !isAboutCreation(each))) await sandbox.faults.arm(fault)
  const time = new VirtualTime(sandbox.clock, Date.parse((await sandbox.clock.show()).now))
  const clients = Array.from({ length: each.copies ?? 1 }, (_, n) => () => {
    const input = { name: `Roof plan ${n + 1}`, batch: aGalleryBatch(), key: `order-${n + 1}`, id }
    return resultOf(run(serviceOf(sandbox, time, { seed: n }), input), mayHang)
  })
  const results = await time.run(clients)
  return results.map((result) => (result.status === 'fulfilled' ? result.value : { error: result.reason }))
}

/** What a client of a sandbox gets. The same seed has the same random numbers. */
export function serviceOf(
  sandbox: SandboxClient,
  time: VirtualTime,
  { seed, timeout = TIMEOUT }: { readonly seed: number; readonly timeout?: number | undefined },
): Service {
  let state = seed
  // The generator mulberry32.
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const { baseUrl, apiKey } = sandbox
  const { sleep, now } = time
  return { baseUrl, apiKey, ...callsOf({ baseUrl, apiKey }), sleep, now, random, timeout }
}

// A fault of a batch that the situation creates must be armed before.
function isAboutCreation({ preset }: GalleryCase['faults'][number]): boolean {
  return preset === 'batch-all-errored'
}

async function batchFor(sandbox: SandboxClient, { call }: GalleryCase): Promise<string> {
  if (call !== 'wait' && call !== 'get' && call !== 'results') return ''
  const response = await sandbox.fetch('/batch-predictions', { json: aGalleryBatch() })
  const { id } = (await response.json()) as { readonly id: string }
  if (call === 'results') await sandbox.clock.advance({ until: { batch: id } })
  return id
}

async function resultOf(run: Promise<unknown>, mayHang: boolean): Promise<Result> {
  const result = run.then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  )
  return mayHang ? Promise.race([result, later(1.5 * TIMEOUT, 'pending' as const)]) : result
}
