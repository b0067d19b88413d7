import { expect, onTestFinished } from 'vitest'
import { Settings } from '../../src/core/assumptions.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { judge } from '../../src/tools/drift/blame.ts'
import { readRecording } from '../../src/tools/drift/recording.ts'
import type { SendRequest } from '../../src/tools/drift/replay.ts'
import { driftReport } from '../../src/tools/drift/report.ts'
import { temporaryFile } from '../cli/in-process.ts'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import type { Har } from './har-changes.ts'

let recording: Promise<string> | undefined

/** A recording of the emulator: every operation, errors of several kinds, and the whole life of a batch. */
export async function recorded(): Promise<Har> {
  recording ??= record()
  return JSON.parse(await recording)
}

async function record(): Promise<string> {
  const emulator = await testEmulator({ collections: sampleRecords })
  for (const { method, path, options } of await sampleCalls(emulator)) {
    emulator.advance('1s')
    await emulator.request(method, path, options)
  }
  await emulator.get('/data-views', { key: 'none' })
  await emulator.post('/pages', {})
  const keyed = { headers: { 'idempotency-key': 'key-1' } }
  const { id } = (await emulator.post('/batch-predictions', batchBody(), keyed)).body
  await emulator.post('/batch-predictions', batchBody(), keyed)
  await emulator.post('/batch-predictions', batchBody(1), keyed)
  for (const wait of ['1s', '1100ms', '200ms', '5s']) {
    emulator.advance(wait)
    await emulator.get(`/batch-predictions/${id}`)
  }
  const { id: other } = (await emulator.post('/batch-predictions', batchBody())).body
  await emulator.post(`/batch-predictions/${other}/cancel`)
  await emulator.get('/batch-predictions/unknown')
  await emulator.control('POST', '/limits/pages.create/fill', { remaining: 0 })
  await emulator.post('/pages', { name: 'One too many' })
  return JSON.stringify((await emulator.control('GET', '/requests/har')).body)
}

/** The report about a recording. */
export async function driftOf(
  har: unknown,
  { base, settings = {}, send }: { base?: string; settings?: JsonObject; send?: Wrap } = {},
) {
  const text = typeof har === 'string' ? har : JSON.stringify(har)
  const emulator = await openEmulator({
    ...{ listen: false, ephemeral: true, rate: 0, limits: false, fixtures: 'empty', endpoints: [], settings },
  })
  onTestFinished(() => emulator.close())
  const files = [readRecording(temporaryFile('traffic.har', text), base)]
  const judged = await judge(files, new Settings(settings), emulator, send?.(emulator.fetch))
  return driftReport(files, judged)
}

/** Puts other answers in the place of those of the emulator. */
export type Wrap = (send: SendRequest) => SendRequest

/** An emulator with a bug in the answers to an operation: a part of its path and the change of each of its answers. */
export function withBug(
  method: string,
  path: RegExp,
  change: (answer: { status: number; headers: Headers; body: unknown }) => void,
): Wrap {
  return (send) => async (url, init) => {
    const response = await send(url, init)
    if (init.method !== method || !path.test(url)) return response
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').includes('json') && !text.includes('\n')
    const answer = {
      status: response.status,
      headers: new Headers(response.headers),
      body: isJson && text !== '' ? JSON.parse(text) : text,
    }
    change(answer)
    const { status, headers, body } = answer
    const written = typeof body === 'string' ? body : JSON.stringify(body)
    return new Response(status === 204 ? null : written, { status, headers })
  }
}

export type Report = Awaited<ReturnType<typeof driftOf>>

/** `contract POST /pages: body /id: is required`, in order. */
export const findingTexts = ({ findings }: Pick<Report, 'findings'>) =>
  findings.map(({ blame, request, detail, setting }) =>
    blame === 'open' ? `open ${setting}` : `${blame} ${request}: ${detail}`,
  )

/** Checks that a report has no difference and that something was compared. */
export function expectNone(report: Report): void {
  expect(findingTexts(report)).toEqual([])
  expect(report.compared).toBeGreaterThan(0)
}
