import { expect } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { type TestEmulator, type TestEmulatorOptions, type TestResponse, testEmulator } from './emulator.ts'
import { interveneBy } from './intervene.ts'
import { refusedAs } from './refusal.ts'
import { mountPath } from './transport.ts'

/** One file of each kind that validation distinguishes; all but one are in ts-a. */
const files = [
  { id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 },
  { id: 'file-sheet', teamspace_id: 'ts-a', name: 'b.xlsx', kind: 'spreadsheet', pages: null },
  { id: 'file-archive', teamspace_id: 'ts-a', name: 'c.zip', kind: 'archive', supported: false },
  { id: 'file-locked', teamspace_id: 'ts-a', name: 'd.pdf', kind: 'pdf', pages: 2, readable: false },
  { id: 'file-elsewhere', teamspace_id: 'ts-b', name: 'e.pdf', kind: 'pdf', pages: 10 },
]

/** A test sandbox with files, under the given settings. */
export function batchEmulator(
  settings: JsonObject = {},
  options: TestEmulatorOptions = {},
): Promise<TestEmulator> {
  return testEmulator({ ...options, settings, collections: { files, ...options.collections } })
}

/** `n` items, `item-0` and so on. */
export function someItems(n: number): { custom_id: string; file_id: string }[] {
  return Array.from({ length: n }, (_, index) => ({ custom_id: `item-${index}`, file_id: 'file-pdf' }))
}

/** The body of a valid creation, with some fields replaced. `items`: their number, or the list. */
export function aBatch({ items = 3, ...changes }: Record<string, unknown> & { items?: unknown } = {}) {
  return {
    prompt: 'Read the total.',
    output_schema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    model: 'model-1',
    items: typeof items === 'number' ? someItems(items) : items,
    ...changes,
  }
}

/** Creates a valid batch and returns the response body. */
export async function createBatch(emulator: TestEmulator, changes: Parameters<typeof aBatch>[0] = {}) {
  const response = await emulator.post('/batch-predictions', aBatch(changes))
  expect(response.text).toContain('"status":"validating"')
  return response.body
}

/** The batch as retrieve shows it now. */
export async function retrieve(emulator: TestEmulator, id: string) {
  const { status, body } = await emulator.get(`/batch-predictions/${id}`)
  expect(status).toBe(200)
  return body
}

export function cancel(emulator: TestEmulator, id: string): Promise<TestResponse> {
  return emulator.post(`/batch-predictions/${id}/cancel`)
}

/** The result lines, each parsed. */
export async function linesOf(emulator: TestEmulator, id: string) {
  const { status, text } = await emulator.get(`/batch-predictions/${id}/results`)
  expect(status).toBe(200)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

const ROUTES: Readonly<Record<string, string>> = {
  show: 'GET /batches/{id}',
  change: 'PATCH /batches/{id}',
}

/** Applies one of the control interventions to a batch. */
export function intervene(
  { sandbox }: Pick<TestEmulator, 'sandbox'>,
  name: string,
  id: string,
  body: object = {},
): JsonObject {
  return interveneBy(sandbox, ROUTES[name] ?? `POST /batches/{id}/${name}`, { id }, body)
}

/** Moves a batch with the default pace to a state; throws if it does not get there. */
export async function bring(emulator: TestEmulator, id: string, status: string) {
  const ways: Record<string, () => unknown> = {
    validating: () => undefined,
    in_progress: () => emulator.advance('2s'),
    finalizing: () => emulator.advance('2200ms'),
    completed: () => emulator.advance('10s'),
    failed: () => intervene(emulator, 'fail', id),
    expired: () => intervene(emulator, 'expire', id),
    cancelling: () => cancel(emulator, id),
    cancelled: async () => {
      await cancel(emulator, id)
      emulator.advance('1s')
    },
  }
  await ways[status]?.()
  const batch = await retrieve(emulator, id)
  expect(batch.status).toBe(status)
  return batch
}

/** Asserts a client error in problem details that leaves the sandbox unchanged; returns the response. */
export const refusedProblem = refusedAs(expectProblem)

/** Asserts a client error in problem details. Specification: Errors / Batch prediction errors. */
export function expectProblem(response: TestResponse, status?: number, code?: string): void {
  expect(response.status).toBeGreaterThanOrEqual(400)
  expect(response.status).toBeLessThan(500)
  if (status !== undefined) expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  const { type, title, status: member, detail, instance, errors: _, ...others } = response.body
  expect(type).toMatch(new RegExp(`/__emulator/problems/${code ?? '[a-z0-9_]+'}$`))
  expect(title).toMatch(/./)
  expect(member).toBe(response.status)
  expect(detail).toMatch(/./)
  expect(instance).toMatch(new RegExp(`^${mountPath()}/v1/batch-predictions`))
  expect(others).toEqual({})
}

/** The pointers of all issues of a validation problem. */
export function pointersOf(response: TestResponse): string[] {
  return response.body.errors.map(({ pointer }: { pointer: string }) => pointer)
}

/** The counts of `request_counts` that are not zero. */
export function counts(batch: { request_counts: Record<string, number> }): Record<string, number> {
  return Object.fromEntries(Object.entries(batch.request_counts).filter(([, count]) => count !== 0))
}

const STATES = ['in_progress', 'finalizing', 'completed', 'failed', 'cancelling', 'cancelled', 'expired']

/** The state timestamps that are set, in seconds after creation. */
export function stamps(batch: Record<string, string | null>): Record<string, number> {
  const since = (at: string) => (Date.parse(at) - Date.parse(String(batch.created_at))) / 1000
  const stamps = STATES.map((state) => `${state}_at`).filter((stamp) => batch[stamp] !== null)
  return Object.fromEntries(stamps.map((stamp) => [stamp, since(String(batch[stamp]))]))
}
